import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TabularBench } from './support.ts';

let bench: TabularBench;
beforeAll(async () => {
  bench = await TabularBench.open();
});
afterAll(() => bench.close());

async function times(text: string): Promise<unknown[]> {
  return (await bench.rows(await bench.convert(text))).map((row) => row.t);
}

describe('texts of durations are times', () => {
  test.each([
    ['minutes and seconds', 'time,v\n00:01.5,1\n01:07,2\n61:00.25,3\n', [1_500, 67_000, 3_660_250]],
    ['minutes by the unit', 'time [mm:ss],v\n0:01,1\n1:07,2\n', [1_000, 67_000]],
    ['more than a day', 'time,v\n23:59:59.5,1\n25:00:00.125,2\n', [86_399_500, 90_000_125]],
    ['seconds', 'time,v\n0 s,1\n12.5 s,2\n', [0, 12_500]],
    ['decimal commas', 'Zeit;v\n0,5 s;1\n1,5e1 s;2\n', [500, 15_000]],
    ['several units', 'time,v\n0ms,1\n999 ms,2\n1.5 s,3\n2 min,4\n', [0, 999, 1_500, 120_000]],
    ['exponents', 'time,v\n1e-3,1\n2E-03,2\n', [1, 2]],
  ])('%s', async (_, text, expected) => {
    expect(await times(text)).toEqual(expected);
  });

  test('and go on over the hour that a spreadsheet leaves out', async () => {
    const { description } = await bench.convert('time,v\n58:00.0,1\n59:30.5,2\n00:10.0,3\n01:00.0,4\n');
    expect(description.time).toMatchObject({ from: 3_480_000, to: 3_660_000 });
    expect(description.warnings).toEqual([
      'The times begin anew with each hour; an hour was added after each.',
    ]);
  });

  test.each([
    ['time [us]', [700_000_000, 800_000_000], [700_000, 800_000]],
    ['time_ms', [700_000_000, 700_000_001], [700_000_000, 700_000_001]],
    ['time [ns]', [1_500_000_000, 2_500_000_000], [1_500, 2_500]],
    // Too many seconds for a duration.
    ['time [s]', [1_795_860_000_000, 1_795_860_000_001], [1_795_860_000_000, 1_795_860_000_001]],
  ])(
    'numbers below %s count in its unit, and are no seconds since 1970',
    async (heading, [a, b], expected) => {
      expect(await times(`${heading},v\n${a},1\n${b},2\n`)).toEqual(expected);
    },
  );

  test('but not in a channel that is no time, and not hours and minutes', async () => {
    const laps = 'lap,lap time\n1,1:07.5\n2,1:06.5\n3,1:08.0\n';
    expect((await bench.convert(laps)).description.time.name).toBe('lap');
    const clock = 'v,Time\n5,05:06\n6,05:07\n';
    expect((await bench.convert(clock)).description.time.name).toBeNull();
  });

  test('and a later text that is none is refused with its place', async () => {
    const error = await bench.fails('time,v\n0 s,1\n1 s,2\nsoon,3\n', { maxAutodetectSampleRows: 2 });
    expect(error.message).toContain('Line 4, column 1 ("time"): "soon" is not a duration');
  });
});

describe('days as a spreadsheet numbers them', () => {
  const day = Date.UTC(2025, 11, 9);
  test.each([
    ['Date/Time,v\n46000,1\n46000.5,2\n46000.5000115741,3\n', [day, day + 43_200_000, day + 43_201_000]],
    ['Datum;v\n46000,0;1\n46000,25;2\n', [day, day + 21_600_000]],
    ['date,v\n739960,1\n739960.25,2\n', [day, day + 21_600_000]],
  ])('are dates: %s', async (text, expected) => {
    const converted = await bench.convert(text);
    expect((await bench.rows(converted)).map((row) => row.t)).toEqual(expected);
    expect(converted.description.time.kind).toBe('absolute');
    expect(converted.description.warnings).toEqual([
      'The numbers in the time column were read as days, as spreadsheets keep dates.',
    ]);
  });

  test('are seconds in a column that is not called a date', async () => {
    expect(await times('time,v\n46000,1\n46000.5,2\n')).toEqual([46_000_000, 46_000_500]);
  });
});

test('a time beside a day that goes over 24 hours after the sample is a duration', async () => {
  const rows = Array.from(
    { length: 30 },
    (_, hour) => `2021-03-04,${String(hour).padStart(2, '0')}:00:00,${hour}`,
  );
  const text = `Date,Time,v\n${rows.join('\n')}\n`;
  const converted = await bench.convert(text, { maxAutodetectSampleRows: 10 });
  expect(converted.description.time).toMatchObject({ name: 'Time', kind: 'relative', to: 29 * 3_600_000 });
  expect(converted.description.channels.map(({ name }) => name)).toEqual(['Date', 'v']);
  expect(converted.description.warnings.join()).toContain('The times beside the days go over 24 hours');
  const oneDay = await bench.convert(
    `Date,Time,v\n${rows.slice(0, 24).join('\n')}\n2021-03-04,24:00:00,1\n`,
    {
      maxAutodetectSampleRows: 10,
    },
  );
  expect(oneDay.description.time).toMatchObject({ name: 'Date, Time', kind: 'absolute' });
});

describe('numbers with a comma', () => {
  test.each([
    ['decimal, in quotes', 'time,v\n"0,5","2,75"\n"1,5",3\n', [500, 1_500], [2.75, 3]],
    ['of thousands', 'time,v,w\n0,"1,200.5",1\n1,"2,000",2\n', [0, 1_000], [1200.5, 2000]],
    ['decimal, with points of thousands', 'time;v\n0;1.200,5\n1;2.000\n', [0, 1_000], [1200.5, 2000]],
  ])('are numbers: %s', async (_, text, expected, values) => {
    const rows = await bench.rows(await bench.convert(text));
    expect(rows.map((row) => row.t)).toEqual(expected);
    expect(rows.map((row) => row.v)).toEqual(values);
  });

  test.each([
    ['comma', 'time,v\n', (row: number, v: string) => `${row},${v}\n`, '"1,200.5"', '"1,5"'],
    ['comma', 'time,v,w\n', (row: number, v: string) => `${row},${v},${v}\n`, '"1,200.5"', '" 12,34.5 "'],
    ['point', 'time;v\n', (row: number, v: string) => `${row};${v}\n`, '1.200,5', '1.5'],
  ])(
    'with a %s that is no mark of thousands, as it is in the first rows, are refused with their place: %s',
    async (mark, heading, line, first, late) => {
      const rows = Array.from({ length: 30 }, (_, row) => line(row, first)).join('');
      const text = `${heading}${rows}${line(30, late)}`;
      const fault = await bench.fails(text, { maxAutodetectSampleRows: 1 });
      const read = late.replaceAll('"', '');
      expect(fault.message).toBe(
        `Line 32, column 2 ("v"): The ${mark} of "${read}" is no mark of thousands, as it is in the first rows.`,
      );
      expect(await bench.rows(await bench.convert(`${heading}${rows}`))).toHaveLength(30);
    },
  );

  test('that may mean either are texts', async () => {
    const { description } = await bench.convert('time,v\n0,"1,200"\n1,"1,300"\n');
    expect(description.channels[0]?.type).toBe('text');
  });
});
