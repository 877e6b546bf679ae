import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TabularBench } from './support.ts';

let bench: TabularBench;
beforeAll(async () => {
  bench = await TabularBench.open();
});
afterAll(() => bench.close());

const first = Date.UTC(2021, 2, 4, 5, 6, 7);
const second = first + 1500;

describe('days and times of the day in two columns', () => {
  const days: [string, string][] = [
    ['Datum;Zeit;v\n04.03.2021;05:06:07;5\n04.03.2021;05:06:08,5;6\n', 'Datum, Zeit'],
    ['Date,Time,v\n2021-03-04,05:06:07,5\n2021-03-04,5:06:08.500,6\n', 'Date, Time'],
    ['v,UTC Time,Day\n5,05:06:07,20210304\n6,05:06:08.5,20210304\n', 'Day, UTC Time'],
    [
      '{"day":"2021-03-04","clock":"05:06:07","v":5}\n{"day":"2021-03-04","clock":"05:06:08.5","v":6}\n',
      'day, clock',
    ],
  ];
  test.each(days)('are one time: %s', async (text, name) => {
    const converted = await bench.convert(text);
    expect((await bench.rows(converted)).map((row) => row.t)).toEqual([first, second]);
    expect(converted.description.time).toMatchObject({ kind: 'absolute', from: first, to: second, name });
    expect(converted.description.channels.map((channel) => channel.name)).toEqual(['v']);
  });

  test('are one time over midnight, and by hours and minutes', async () => {
    const converted = await bench.convert('Date,Time,v\n31.12.2020,23:59,1\n01.01.2021,00:00,2\n');
    const midnight = Date.UTC(2021, 0, 1);
    expect((await bench.rows(converted)).map((row) => row.t)).toEqual([midnight - 60_000, midnight]);
  });

  test('are one time in hours of half a day', async () => {
    const rows = ['12:00:01 AM', '1:30:00.5 AM', '12:00 PM', '11:59:59 pm'].map(
      (clock) => `03/14/2021,${clock},1`,
    );
    const converted = await bench.convert(`Date,Time,v\n${rows.join('\n')}\n`);
    const day = Date.UTC(2021, 2, 14);
    const expected = [1_000, 5_400_500, 43_200_000, 86_399_000].map((time) => day + time);
    expect((await bench.rows(converted)).map((row) => row.t)).toEqual(expected);
  });

  test('are one time where the configuration names the column of days', async () => {
    const text = 'when,Time,v\n2021-03-04,05:06:07,5\n2021-03-04,05:06:08.5,6\n';
    const converted = await bench.convert(text, { timeColumn: 'when' });
    expect(converted.description.time).toMatchObject({ from: first, to: second, name: 'when, Time' });
    const alone = await bench.convert(text, { timeColumn: 'when', autoDetectTimeColumn: false });
    expect(alone.description.time).toMatchObject({ from: Date.UTC(2021, 2, 4), name: 'when' });
  });

  test.each([
    ['a duration', 'date,lap time,v\n2021-03-04,00:01:07,5\n2021-03-05,00:01:08,6\n'],
    ['a column with gaps', 'date,time,v\n2021-03-04,00:01:07,5\n2021-03-05,,6\n'],
    ['a time that is no time of a day', 'date,time,v\n2021-03-04,100:01:07,5\n2021-03-05,25:00:00,6\n'],
  ])('%s beside days is a channel', async (_, text) => {
    const converted = await bench.convert(text);
    expect(converted.description.time).toMatchObject({ name: 'date', from: Date.UTC(2021, 2, 4) });
    expect(converted.description.channels).toHaveLength(2);
  });

  test.each([
    ['seconds', 'Date,Time [s],v\n2021-03-04,0,5\n2021-03-04,1.5,6\n', 'Time [s]', [0, 1500]],
    [
      'another day form',
      'v,elapsed,date\n5,00:00:00,04.03.2021\n6,00:00:01.5,04.03.2021\n',
      'elapsed',
      [0, 1500],
    ],
    [
      'the start of the recording',
      `start time,t\n2021-03-04T05:06:07Z,0\n2021-03-04T05:06:07Z,1.5\n`,
      't',
      [0, 1500],
    ],
    ['epochs', `date,ts,v\n2021-03-04,${first},5\n2021-03-04,${second},6\n`, 'ts', [first, second]],
  ])(
    'a day or a moment that is the same in all rows is no time where another column goes on: %s',
    async (_, text, name, times) => {
      const converted = await bench.convert(text);
      expect(converted.description.time.name).toBe(name);
      expect((await bench.rows(converted)).map((row) => row.t)).toEqual(times);
    },
  );

  test('a column of days with several rows each is the time where no other is', async () => {
    const text = 'date,v\n2021-03-04,1\n2021-03-04,2\n2021-03-05,3\n';
    const converted = await bench.convert(text);
    expect(converted.description.time).toMatchObject({ name: 'date', kind: 'absolute' });
  });

  test('a later text that is no time is refused with its place, in either column', async () => {
    const rows = Array.from({ length: 30 }, () => '2021-03-04,05:06:07,5\n').join('');
    const sampled = { maxAutodetectSampleRows: 10 };
    const clock = await bench.fails(
      `date,time,v\n${rows}2021-03-04,noon,1\n2021-03-0x,05:06:07,1\n`,
      sampled,
    );
    expect(clock.message).toBe('Line 32, column 2 ("time"): "noon" is not a duration (hh:mm:ss).');
    const day = await bench.fails(`date,time,v\n${rows}2021-03-0x,05:06:07,1\n2021-03-04,noon,1\n`, sampled);
    expect(day).toMatchObject({ line: 32, column: 1 });
  });
});

describe('times of the day without days', () => {
  test('go on over midnight', async () => {
    const text = 'time,v\n23:59:59,1\n,2\n00:00:00.5,3\n18:00:01,4\n00:00:02,5\n00:00:01,6\n';
    const converted = await bench.convert(text, { timeColumn: 'time' });
    const rows = await bench.rows(converted);
    const day = 86_400_000;
    expect(rows.map((row) => row.t)).toEqual([
      day - 1_000,
      day + 500,
      day * 1.75 + 1_000,
      2 * day + 1_000,
      2 * day + 2_000,
    ]);
    expect(rows.map((row) => row.v)).toEqual([1, 3, 4, 6, 5]);
    expect(converted.description.time).toMatchObject({ kind: 'relative', from: day - 1_000 });
    expect(converted.description.warnings).toEqual([
      'The times of the day begin anew at midnight; a day was added after each.',
      '1 rows without a time were skipped.',
      'The rows were sorted by time.',
    ]);
  });

  test.each(['elapsed', 'lap time'])(
    'are durations in a column "%s", which are only sorted',
    async (name) => {
      const converted = await bench.convert(`${name},v\n23:59:59,1\n00:00:01,2\n`, { timeColumn: name });
      expect((await bench.rows(converted)).map((row) => row.t)).toEqual([1_000, 86_399_000]);
    },
  );
});
