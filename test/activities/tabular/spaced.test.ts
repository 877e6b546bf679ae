import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TabularBench } from './support.ts';

let bench: TabularBench;
beforeAll(async () => {
  bench = await TabularBench.open();
});
afterAll(() => bench.close());

describe('columns that runs of blanks separate', () => {
  const tables: [string, string, string | null, string[]][] = [
    ['single blanks', 'time v w\n0 1 2\n0.1 3 4\n', 'time', ['v', 'w']],
    [
      'aligned numbers without a heading',
      '  0.0   1  2.\n  0.1   3  4.\n  0.2   5  6.\n',
      'column_1',
      ['column_2', 'column_3'],
    ],
    [
      'exponents of Fortran',
      ' 0.0D+00 1.0D0 .2D+01\n 1.0D-01 0.3d+1 4.D0\n 2.0D-01 1. 1.\n',
      'column_1',
      ['column_2', 'column_3'],
    ],
    ['decimal commas', 'Zeit  v  w\n0,0   1,0  2,0\n0,1   3,0  4,0\n', 'Zeit', ['v', 'w']],
    ['a heading of gnuplot', '# made by x\n# time v w\n0 1 2\n\n\n# next\n0.1 3 4\n', 'time', ['v', 'w']],
    ['a heading of MATLAB', '% time  v  w\n0 1 2\n0.1 3 4', 'time', ['v', 'w']],
    ['line ends of Windows', 'time v w\r\n0 1 2\r\n0.1 3 4\r\n', 'time', ['v', 'w']],
    ['settings above', 'Rig 5\nOperator I. Berg\ntime v w\n0 1 2\n0.1 3 4\n', 'time', ['v', 'w']],
  ];
  test.each(tables)('are read: %s', async (_, text, time, names) => {
    const converted = await bench.convert(text);
    expect(converted.description.time.name).toBe(time);
    expect(converted.description.channels.map(({ name }) => name)).toEqual(names);
    expect((await bench.rows(converted)).slice(0, 2).map((row) => Object.values(row))).toEqual([
      [0, 1, 2],
      [100, 3, 4],
    ]);
    const broken = await bench.fails(`${text.trimEnd()}\n1 2 3 4 5\n`);
    expect(broken.line).toBe(text.trimEnd().split('\n').length + 1);
  });

  const headings: [string, string, string[], (string | null)[]][] = [
    ['units beside the names', 'time [s] speed [m/s]\n0 1\n1 2\n', ['speed'], ['m/s']],
    ['names of two words', '# Time (s)   Engine speed (rpm)\n0 1\n1 2\n', ['Engine speed'], ['rpm']],
    ['names in quotes', '"Time (s)" "Engine speed (rpm)"\n0 1\n1 2\n', ['Engine speed'], ['rpm']],
    ['a line of units', '% time  v\n%  s    km/h\n0 1\n1 2\n', ['v'], ['km/h']],
  ];
  test.each(headings)('have %s', async (_, text, names, units) => {
    const { description } = await bench.convert(text);
    expect(description.channels.map(({ name }) => name)).toEqual(names);
    expect(description.channels.map(({ unit }) => unit)).toEqual(units);
  });

  test('have no line of many megabytes', async () => {
    const error = await bench.fails(`time v\n0 1\n1 2\n${'x'.repeat(20_000_000)} 3\n2 3\n`);
    expect(error).toMatchObject({ line: 4, message: expect.stringContaining('longer') });
  });

  test('hold states, missing numbers, and fields of Fortran that are too narrow', async () => {
    const text = 'time v state\n0 NaN idle\n1 ***** "on hold"\n2 7 idle\n';
    const converted = await bench.convert(text);
    expect(await bench.rows(converted)).toEqual([
      { t: 0, v: null, state: 'idle' },
      { t: 1000, v: null, state: 'on hold' },
      { t: 2000, v: 7, state: 'idle' },
    ]);
  });

  test.each([
    ['with a heading', 'Date Time v\n2021-03-04 05:06:07 5\n2021-03-04 05:06:08.5 6\n'],
    ['without one', '2021-03-04 05:06:07 5\n2021-03-04 05:06:08.5 6\n'],
  ])('hold a day and the time of the day %s', async (_, text) => {
    const converted = await bench.convert(text);
    const first = Date.UTC(2021, 2, 4, 5, 6, 7);
    expect((await bench.rows(converted)).map((row) => row.t)).toEqual([first, first + 1500]);
    expect(converted.description.channels).toHaveLength(1);
  });

  test('are read from a long file as from its start', async () => {
    const lines = Array.from({ length: 120_000 }, (_, row) => ` ${row}   ${row * 2}  µ${row % 3}`);
    const converted = await bench.convert(`time v s\n${lines.join('\n')}\n`);
    expect(converted.rowCount).toBe(lines.length);
    expect((await bench.rows(converted)).at(-1)).toEqual({ t: 119_999_000, v: 239_998, s: 'µ2' });
    const broken = await bench.fails(`time v s\n${lines.join('\n')}\n7 x y\n`);
    expect(broken.message).toBe('Line 120002, column 2 ("v"): "x" is not a number.');
  });

  test.each([
    ['prose', 'hello world\nthis is a text\nwith 5 words here\nand more\n'],
    ['words', 'hello world\ngood morning\nand more\n'],
  ])('are not seen in %s', async (_, text) => {
    expect((await bench.convert(text)).description.channels).toHaveLength(1);
  });

  test('are not seen in values that commas divide', async () => {
    const converted = await bench.convert('time,v\n0,1 200\n1,1 201\n2,1 202\n');
    expect(converted.description.channels.map(({ name }) => name)).toEqual(['v']);
  });
});
