import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TabularConfiguration } from '../../../activities/builtin/tabular/configuration.ts';
import { TabularBench } from './support.ts';

let bench: TabularBench;
beforeAll(async () => {
  bench = await TabularBench.open();
});
afterAll(() => bench.close());

const first = Date.UTC(2021, 2, 4, 5, 6, 7);
const second = first + 1500;
type Case = [string, string, [string, string]];

const absolute: Case[] = [
  ['ISO 8601', 'time', ['2021-03-04T05:06:07Z', '2021-03-04T05:06:08.500Z']],
  ['ISO 8601 with offsets', 'time', ['2021-03-04T07:06:07+02:00', '2021-03-04T03:36:08.5-01:30']],
  ['ISO 8601 without a zone, which is UTC', 'stamp', ['2021-03-04 05:06:07', '2021-03-04 05:06:08.5']],
  ['with slashes', 'x', ['2021/03/04 05:06:07', '2021/03/04 05:06:08.5']],
  ['day first with points', 'Datum', ['04.03.2021 05:06:07.0', '04.03.2021 05:06:08.500']],
  ['day first with decimal commas', 'Datum', ['"04.03.2021 05:06:07,0"', '"04.03.2021 05:06:08,500"']],
  ['ISO 8601 with decimal commas', 'time', ['"2021-03-04T05:06:07,0Z"', '"2021-03-04T05:06:08,500Z"']],
  ['as logs of Python have them', 'time', ['"2021-03-04 05:06:07,000"', '"2021-03-04 05:06:08,500"']],
  ['with a blank before the offset', 'time', ['2021-03-04 07:06:07.0 +0200', '2021-03-04 03:36:08.5 -01:30']],
  ['compact', 'time', ['20210304T050607Z', '20210304T050608Z']],
  ['epoch seconds', 'timestamp', [`${first / 1000}`, `${second / 1000}`]],
  ['epoch milliseconds', 'timestamp', [`${first}`, `${second}`]],
  ['epoch microseconds', 'ts', [`${first}000`, `${second}000`]],
  ['epoch nanoseconds', 'ts', [`${first}000000`, `${second}000000`]],
];

describe('absolute times', () => {
  test.each(absolute)('%s are found', async (name, heading, [a, b]) => {
    const converted = await bench.convert(`v,${heading}\n5,${a}\n6,${b}\n`);
    const expected = name === 'compact' ? [first, first + 1000] : [first, second];
    expect((await bench.rows(converted)).map((row) => row.t)).toEqual(expected);
    expect(converted.description.time).toMatchObject({
      kind: 'absolute',
      from: expected[0],
      to: expected[1],
    });
  });

  test.each([
    ['2021-03-04 05:06:07', '2021-03-04 05:06:08.5'],
    ['04.03.2021 05:06:07.0', '04.03.2021 05:06:08.5'],
  ])('a row without a time is skipped: %s', async (a, b) => {
    const rows = `time,v\n${a},1\n,2\n${b},3\n`;
    const chosen = await bench.convert(rows, { timeColumn: 'time' });
    expect((await bench.rows(chosen)).map((row) => row.t)).toEqual([first, second]);
    expect(chosen.description.warnings).toEqual(['1 rows without a time were skipped.']);
    // Found by the values before the gap.
    const found = await bench.convert(rows, { maxAutodetectSampleRows: 1 });
    expect((await bench.rows(found)).map((row) => row.t)).toEqual([first, second]);
  });

  test('month first or day first is detected from the values, and an ambiguity is a warning', async () => {
    const dayFirst = await bench.convert('date,v\n1/2/2000,1\n13/2/2000,2\n');
    expect(dayFirst.description.time.from).toBe(Date.UTC(2000, 1, 1));
    expect(dayFirst.description.warnings).toEqual([]);
    const doubtful = await bench.convert('date,v\n1/2/2000,1\n1/3/2000,2\n');
    expect(doubtful.description.time.from).toBe(Date.UTC(2000, 0, 2));
    expect(doubtful.description.warnings[0]).toContain('month/day/year');
    const dashed = await bench.convert('date,v\n1-2-2000,1\n1-3-2000,2\n');
    expect(dashed.description.time.from).toBe(Date.UTC(2000, 1, 1));
    expect(dashed.description.warnings[0]).toContain('day-month-year');
  });

  test.each([
    ['28.11.26 10:00', '28.11.26 10:01'],
    ['28.11.26', '29.11.26'],
    ['11/28/26 10:00:00 AM', '11/28/26 10:01:00 AM'],
    ['28-Nov-26 10:00:00.1234', '28-Nov-26 10:01:00.1234'],
  ])('years of two digits are those of this century: %s', async (...texts) => {
    const { description } = await bench.convert(`date,v\n${texts[0]},1\n${texts[1]},2\n`);
    const day = Date.UTC(2026, 10, 28);
    expect(description.time).toMatchObject({ kind: 'absolute', name: 'date' });
    expect(Math.floor(description.time.from / 86_400_000)).toBe(day / 86_400_000);
  });

  test.each([
    ['11/28/2026 10:00:00.250 AM', '11/28/2026 10:00:01.250 AM'],
    ['11-28-2026 10:00:00.250', '11-28-2026 10:00:01.250'],
    ['20261128 10:00:00.250', '20261128 10:00:01.250'],
    ['20261128100000', '20261128100001'],
  ])('and are read as recorders of several countries write them: %s', async (first, second) => {
    const { description } = await bench.convert(`Timestamp,v\n${first},1\n${second},2\n`);
    const from = Date.UTC(2026, 10, 28, 10) + (first.endsWith('0000') ? 0 : 250);
    expect(description.time).toMatchObject({ kind: 'absolute', from, to: from + 1000 });
  });

  test('and are no times where they may stand in front', async () => {
    const { description } = await bench.convert('date,v\n26-11-28,1\n26-11-29,2\n');
    expect(description.time.basis).toBe('row-number');
  });

  test('days without separators are days, in a column that is called so', async () => {
    const days = [Date.UTC(2024, 0, 31), Date.UTC(2024, 1, 1)];
    const texts = ['date,v\n20240131,1\n20240201,2\n', '{"date":20240131,"v":1}\n{"date":20240201,"v":2}\n'];
    for (const text of texts)
      expect((await bench.rows(await bench.convert(text))).map((row) => row.t)).toEqual(days);
    const chosen = await bench.convert('x,v\n20240131,1\n20240201,2\n', { timeColumn: 'x' });
    expect(chosen.description.time).toMatchObject({ kind: 'absolute', from: days[0] });
    for (const other of [
      'distance,v\n20240131,1\n20240201,2\n',
      'date,v\n20240131,1\n20240231,2\n',
      'date,v\n20240131,1\n20241301,2\n',
    ])
      expect((await bench.convert(other)).description.time.kind).toBe('relative');
  });

  test('years are the first of January', async () => {
    const converted = await bench.convert('year,v\n1999,1\n2000,2\n');
    expect(converted.description.time.to).toBe(Date.UTC(2000, 0, 1));
  });
});

describe('offsets', () => {
  const base = '2021-03-04T05:06:07Z';
  const cases: [string, string, TabularConfiguration, 'absolute' | 'relative', number[]][] = [
    ['seconds by default', 'time', {}, 'relative', [0, 1500]],
    ['milliseconds by unit', 'time [ms]', {}, 'relative', [0, 1.5]],
    ['minutes by unit', 'time (min)', {}, 'relative', [0, 90_000]],
    ['hours by a unit of one', 'time (hour)', {}, 'relative', [0, 5_400_000]],
    ['minutes by a unit in brackets', 'elapsed [minute]', {}, 'relative', [0, 90_000]],
    ['milliseconds by name', 'time_ms', {}, 'relative', [0, 1.5]],
    ['milliseconds by a name without underscore', 'timeMs', {}, 'relative', [0, 1.5]],
    ['minutes by name', 'elapsed_minutes', {}, 'relative', [0, 90_000]],
    ['milliseconds by configuration', 'time', { timeColumnIsMs: true }, 'relative', [0, 1.5]],
    [
      'seconds by configuration against the unit',
      'time [ms]',
      { timeColumnIsMs: false },
      'relative',
      [0, 1500],
    ],
    ['from a base', 'time', { baseCapturedAt: base }, 'absolute', [first, second]],
    ['of a named column', 'x', { timeColumn: 'X' }, 'relative', [0, 1500]],
  ];
  test.each(cases)('%s', async (_, heading, configuration, kind, expected) => {
    const converted = await bench.convert(`v,${heading}\n5,0\n4,1.5\n`, configuration);
    expect((await bench.rows(converted)).map((row) => row.t)).toEqual(expected);
    expect(converted.description.time.kind).toBe(kind);
  });

  test('as hours, minutes and seconds', async () => {
    const converted = await bench.convert('elapsed,v\n00:00:01.5,1\n100:00:00,2\n');
    expect((await bench.rows(converted)).map((row) => row.t)).toEqual([1500, 360_000_000]);
    expect(converted.description.time.kind).toBe('relative');
    const commas = await bench.convert('elapsed;v\n00:00:01,5;1\n-00:00:00,25;2\n', {
      timeColumn: 'elapsed',
    });
    expect((await bench.rows(commas)).map((row) => row.t)).toEqual([-250, 1500]);
  });

  test('are exact to the decimal', async () => {
    const times = Array.from({ length: 1000 }, (_, index) => index);
    const lines = times.map((time) => `${(time / 100).toFixed(2)},1`);
    const converted = await bench.convert(`time,v\n${lines.join('\n')}\n`);
    expect((await bench.rows(converted)).map((row) => row.t)).toEqual(times.map((time) => time * 10));
  });

  test('in a first column of rising numbers, whatever its name', async () => {
    const converted = await bench.convert('x,v\n0,5\n0.1,4\n0.2,6\n');
    expect(converted.description.time.name).toBe('x');
  });
});

describe('no time column', () => {
  const none: [string, string, TabularConfiguration][] = [
    ['when it need not be looked for', 'time,v\n0,1\n1,2\n', { autoDetectTimeColumn: false }],
    ['when numbers rise and fall', 'v,time\n0,5\n1,2\n0,6\n', {}],
    ['when the rising column is an id', 'id,v\n1,5\n2,4\n3,6\n', {}],
    ['when the rising column has a unit of its own', 'x [m],v\n1,5\n2,4\n3,6\n', {}],
    ['when a time is missing', 'time,v\n0,1\n,2\n2,3\n', {}],
  ];
  test.each(none)('%s', async (_, text, configuration) => {
    const converted = await bench.convert(text, configuration);
    expect(converted.description.time.basis).toBe('row-number');
    expect(converted.description.channels).toHaveLength(2);
  });
});

describe('a time outside the years 1 to 9999 is refused with its place', () => {
  const year = 'is outside the years 1 to 9999';
  const cases: [string, string, TabularConfiguration, { line?: number; column?: number }, string][] = [
    [
      'relative',
      'v,time\n1,0\n2,1e17\n1,1e18\n',
      {},
      { line: 3, column: 2 },
      `"1e17" ${year}, counted from 1970`,
    ],
    ['relative, far before', 'time,v\n-1e12,1\n0,2\n', {}, { line: 2, column: 1 }, `"-1e12" ${year}`],
    ['behind blank lines', 'time,v\n0,1\n\n1,"a\nb"\n3e11,2\n', {}, { line: 6, column: 1 }, `"3e11" ${year}`],
    [
      'as text',
      'time,v\n2020-01-01,1\n290000-01-01,2\n',
      {},
      { line: 3, column: 1 },
      `"290000-01-01" ${year}.`,
    ],
    ['before the first year', 'time,v\n0044-03-15 (BC),1\n2020-01-01,2\n', {}, { line: 2, column: 1 }, year],
    [
      'of the wrong unit',
      'time,v\n1600000000000000000,1\n1600000000000000001,2\n',
      { timeColumnIsMs: false },
      { line: 2, column: 1 },
      year,
    ],
    [
      'from a base',
      'time,v\n-1e12,1\n0,2\n',
      { baseCapturedAt: '2021-03-04T05:06:07Z' },
      { line: 2, column: 1 },
      `"-1e12" ${year}.`,
    ],
    [
      'in NDJSON',
      '{"time":0,"v":1}\n{"time":1e17,"v":1}\n',
      {},
      { line: 2 },
      `"100000000000000000.0" ${year}`,
    ],
    [
      'in JSON',
      '[{"time":0,"v":1},{"time":1e17,"v":1}]',
      {},
      {},
      `Record 2: The time "100000000000000000.0" ${year}`,
    ],
  ];
  test.each(cases)('%s', async (_, text, configuration, place, message) => {
    const error = await bench.fails(text, configuration);
    expect(error).toMatchObject({ ...place, columnName: 'time' });
    expect(error.message).toContain(message);
  });

  test('but the first and the last that can be written are not', async () => {
    const first = '0001-01-01T00:00:00.000Z';
    const last = '9999-12-31T23:59:59.999Z';
    const { description } = await bench.convert(`time,v\n${first},1\n1958-03-01T00:00:00Z,2\n${last},3\n`);
    expect(description.time).toMatchObject({ from: Date.parse(first), to: Date.parse(last) });
  });

  test('and numbers that only their order makes a time number the rows instead', async () => {
    const { description } = await bench.convert('x,v\n1000000000000,5\n5000000000000,2\n9000000000000,4\n');
    expect(description.time).toMatchObject({ basis: 'row-number', from: 0, to: 2 });
    expect(description.channels.map(({ id }) => id)).toEqual(['x', 'v']);
  });

  test('and infinite numbers are rows without a time', async () => {
    const { description } = await bench.convert('v,time\n1,0\n2,1\n3,inf\n', { timeColumn: 'time' });
    expect(description).toMatchObject({ rowCount: 2, time: { from: 0, to: 1000 } });
    expect(description.warnings).toEqual(['1 rows without a time were skipped.']);
  });
});

describe('a wrong time', () => {
  test('column is named with what there is', async () => {
    const error = await bench.fails('a,b\n1,2\n', { timeColumn: 'zeit' });
    expect(error.message).toContain('"zeit"');
    expect(error.message).toContain('"a", "b"');
  });

  test('column of other texts is refused with an example', async () => {
    const error = await bench.fails('a,b\nhello,2\nworld,3\n', { timeColumn: 'a' });
    expect(error).toMatchObject({ column: 1, columnName: 'a' });
    expect(error.message).toContain('"hello"');
  });

  test('value is named with line and column', async () => {
    const lines = Array.from(
      { length: 100 },
      (_, row) => `x,2020-01-01T00:00:${String(row % 60).padStart(2, '0')}Z`,
    );
    const error = await bench.fails(`v,time\n${lines.join('\n')}\nx,2020-01-32\n`, {
      maxAutodetectSampleRows: 30,
    });
    expect(error).toMatchObject({ line: 102, column: 2, columnName: 'time' });
    expect(error.message).toContain('"2020-01-32"');
  });
});
