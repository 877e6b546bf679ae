import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TabularBench } from './support.ts';

let bench: TabularBench;
beforeAll(async () => {
  bench = await TabularBench.open();
});
afterAll(() => bench.close());

describe('a heading that begins with #', () => {
  const headed: [string, string, string | null, string[]][] = [
    ['is the heading', '# time,speed [m/s]\n0,1\n1,2\n', 'time', ['speed']],
    ['of another delimiter', '#made by x\n#  time\t"a, b"\n0\t1\n1\t2\n', 'time', ['a, b']],
    ['without a first name', '#,time,v\n1,0,5\n2,1,6\n3,2,7\n', 'time', ['column_1', 'v']],
    ['with a text column', '#time,speed,mode\n\n0,1,idle\n1,2,run\n', 'time', ['speed', 'mode']],
  ];
  test.each(headed)('%s', async (_, text, time, names) => {
    const { description } = await bench.convert(text);
    expect(description.time.name).toBe(time);
    expect(description.channels.map(({ name }) => name)).toEqual(names);
    const broken = await bench.fails(`${text}1,2,3,4\t5\t6\t7\n`);
    expect(broken.line).toBe(text.split('\n').length);
  });

  const withUnits: [string, string, string[], (string | null)[]][] = [
    ['units below it', '# time,speed,mode\n# s,km/h,-\n0,1,2\n1,2,2\n', ['speed', 'mode'], ['km/h', null]],
    ['units in brackets', '#time,g\n#[s],[m/s^2]\n0,1\n1,2\n', ['g'], ['m/s^2']],
    ['another comment above', '# rig A,car 5\n# time,speed\n0,1\n1,2\n', ['speed'], [null]],
    ['units above it', '# s,m/s\n# time,speed\n0,1\n1,2\n', ['speed'], [null]],
  ];
  test.each(withUnits)('may have %s', async (_, text, names, units) => {
    const { description } = await bench.convert(text);
    expect(description.time.name).toBe('time');
    expect(description.channels.map(({ name }) => name)).toEqual(names);
    expect(description.channels.map(({ unit }) => unit ?? null)).toEqual(units);
  });

  const comments: [string, string, string[]][] = [
    ['is a comment above another heading', '# time,speed\nt,v\n0,1\n1,2\n', ['v']],
    ['is a comment with more fields', '# made by a, b, c\n0,1\n1,2\n2,2\n', ['column_2']],
    ['is a comment with values', '# 0,1\n1,2\n2,3\n3,3\n', ['column_2']],
    ['is a comment with settings', '# rate: 10 Hz, gain: 2\n0,1\n1,2\n2,2\n', ['column_2']],
    ['is a comment that is a sentence', '# Made by us, at home.\n0,1\n1,2\n2,2\n', ['column_2']],
    ['is a comment above one column', '# v\n5\n2\n3\n', ['column_1']],
  ];
  test.each(comments)('%s', async (_, text, names) => {
    const { description } = await bench.convert(text);
    expect(description.channels.map(({ name }) => name)).toEqual(names);
  });
});

describe('lines of settings above the table', () => {
  const rows = '0,0;1,5;800\n0,1;2,5;900\n0,2;3;950\n';
  const motec = [
    '"Format","MoTeC CSV File"',
    '"Venue","Track",,"Worksheet","5"" screen"',
    '"Vehicle","Car 7"',
    '',
    '"Time","Speed","RPM"',
    '"s","km/h","rpm"',
    '',
    '"0.000","10","800"\n"0.100","11","810"\n"0.200","12","820"\n',
  ].join('\n');
  const table = `Time [s];Speed [km/h];RPM [rpm]\n${rows}`;
  const files: [string, string][] = [
    ['by the delimiter of the table', `Device;X100\nSerial;55\n\n${table}`],
    ['as sentences', `Recorded by rig A, in Oslo\nOperator: I. Berg\n${table}`],
    ['below a comment', `# made by x\nDevice;X100\n${table}`],
    ['with quotes, and units below the heading', motec],
  ];
  test.each(files)('are skipped with a warning: %s', async (_, text) => {
    const { description } = await bench.convert(text);
    expect(description.time).toMatchObject({ basis: 'column', from: 0, to: 200 });
    expect(description.channels.map(({ name, unit }) => [name, unit])).toEqual([
      ['Speed', 'km/h'],
      ['RPM', 'rpm'],
    ]);
    expect(description.warnings).toContain(
      'The lines above the table, such as settings of the recorder, were not read.',
    );
    const broken = await bench.fails(`${text}1,2,3,4\n1;2;3;4\n`);
    expect(broken.line).toBe(text.split('\n').length);
  });

  test.each([
    ['a short line below the heading', 'time,v,w\n0,1\n1,2,3\n2,3,4\n3,4,5\n', 2],
    ['a text in the first row of longer lines', 'time,v\n0,on,x\n1,2,3\n2,3,4\n3,4,5\n', 2],
    ['a heading that is too short', 'time,v\n0,1,2\n1,2,3\n2,3,4\n3,4,5\n', 2],
  ])('are not seen in a broken table: %s', async (_, text, line) => {
    expect(await bench.fails(text)).toMatchObject({ line });
  });

  test('are not seen in texts that another delimiter divides', async () => {
    const { description } = await bench.convert('name;note\nx;hello, world\ny;a, b\nz;c, d\nw;e, f\n');
    expect(description.rowCount).toBe(4);
    expect(description.channels.map(({ name }) => name)).toEqual(['name', 'note']);
  });

  test('are not seen in rows of texts that end with a delimiter', async () => {
    const { description } = await bench.convert('name,note\na,b,\nc,d,\ne,f,\n');
    expect(description.rowCount).toBe(3);
    expect(description.channels.map(({ name }) => name)).toEqual(['name', 'note']);
  });
});

test('lines without a delimiter are texts, with a warning', async () => {
  const { description } = await bench.convert('a line\nof a text\nand one more\n');
  expect(description.channels).toMatchObject([{ name: 'a line', type: 'text' }]);
  expect(description.warnings).toContain(
    'The lines have no comma, semicolon, tab or |; each was read as one text.',
  );
  expect((await bench.convert('v\n5\n3\n4\n')).description.warnings).toHaveLength(1);
});

describe('the rows that detection reads', () => {
  const one = { maxAutodetectSampleRows: 1 };
  test('are as many as configured: one row decides the types and the time', async () => {
    const text = 'v,time\n1,2020-01-01\n2,2020-01-02\nx,2020-01-03\n';
    expect((await bench.convert(text)).description.channels[0]?.type).toBe('text');
    const error = await bench.fails(text, one);
    expect(error).toMatchObject({ line: 4, column: 1 });
    expect(error.message).toContain('"x" is not a number');
    const records = '[{"time":"2020-01-01","v":1},{"time":"soon","v":2}]';
    expect((await bench.convert(records)).description.time.basis).toBe('row-number');
    expect((await bench.fails(records, one)).message).toContain('Record 2: "soon" is not a time');
  });

  test('but delimiter and heading are found from more', async () => {
    const { description } = await bench.convert('t;2020\n;5,5\n1;6\n', one);
    expect(description.format).toBe('semicolon');
    expect(description.channels.map(({ name, type }) => [name, type])).toEqual([
      ['t', 'integer'],
      ['2020', 'number'],
    ]);
  });
});

test('decimal commas and marks of thousands are found after hundreds of whole numbers', async () => {
  const whole = Array.from({ length: 300 }, (_, row) => `${row};0;0\n`).join('');
  const converted = await bench.convert(`t;v;w\n${whole}300;0,5;1.200,5\n`);
  expect((await bench.rows(converted)).at(-1)).toEqual({ t: 300_000, v: 0.5, w: 1200.5 });
});

test('fields of blanks are missing values, in the sample and after it', async () => {
  const text = 't,v,on,late\n0, 1.5,true,  \n1,    ,   ,  \n2,2,false,  \n3,   ,\t,  \n4,5,true,7\n';
  for (const rows of [1, 2, 10_000]) {
    const converted = await bench.convert(text, { maxAutodetectSampleRows: rows });
    const read = await bench.rows(converted);
    expect(read.map(({ v, on }) => [v, on])).toEqual([
      [1.5, true],
      [null, null],
      [2, false],
      [null, null],
      [5, true],
    ]);
    expect(read.map(({ late }) => late)).toEqual([null, null, null, null, 7]);
  }
  const times = await bench.convert('time;v\n0;1\n  ;2\n2;3\n', { timeColumn: 'time' });
  expect((await bench.rows(times)).map((row) => row.t)).toEqual([0, 2000]);
});

test('columns of decimal commas are numbers beside a column of points', async () => {
  const { description } = await bench.convert('t;v;w;version\n0;1,5;2,5;1.2\n1;2,5;3,5;1.2\n');
  expect(description.channels.map(({ type }) => type)).toEqual(['number', 'number', 'text']);
});
