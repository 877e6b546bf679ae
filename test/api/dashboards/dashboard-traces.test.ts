/** Statistics, and traces over another channel or of each value. */
import { describe, expect, test } from 'vitest';
import { dashboardWorld } from './dashboard-world.ts';

const { dimensionId, firstMs, get, insertDimension, record, rows } = await dashboardWorld();

const rowsOfLap = 1500;
const laps = 3;
const at = (row: number) => new Date(firstMs + row * 100).toISOString();

/** Distance rises over the whole drive, `lapDistance` from 0 in each lap; a stop in lap 2, and a row without a distance. */
const drive = Array.from({ length: laps * rowsOfLap }, (_, row) => {
  const lap = 1 + Math.floor(row / rowsOfLap);
  const stands = row >= 2000 && row < 2100;
  return { row, lap, distance: stands ? 4000 : row * 2, speed: stands ? 0 : 50 + Math.sin(row / 30), stands };
});
const line = ({ row, lap, distance, speed, stands }: (typeof drive)[number]) =>
  [
    at(row),
    speed,
    row === 700 ? '' : distance,
    distance - (lap - 1) * rowsOfLap * 2,
    lap,
    stands,
    stands ? 'pit' : 'track',
  ].join(',');
const heading = 'time,speed [km/h],distance [m],lapDistance,lap,stands,place';
const source = await record(21, `${heading}\n${drive.map(line).join('\n')}\n`);
const other = await record(22, `time,speed,height\n${at(0)},1,2\n${at(1)},2,3\n`);
/** As a file that is too large to be sorted. */
const unsorted = {
  ...other,
  description: { ...other.description, time: { ...other.description.time, sorted: false } },
};
const id = await insertDimension('b', [source]);
const two = await insertDimension('c', [source, other]);
const disordered = await insertDimension('d', [unsorted]);

interface Series {
  channel: string;
  trace?: { value: unknown; from: string; to: string };
  x?: number[];
  times: number[];
  values: (number | boolean | null)[];
}
async function read(dimension: number, query: string): Promise<Series[]> {
  const { status, body } = await get(`${dimension}/series?${query}`);
  expect([status, body.message]).toEqual([200, undefined]);
  return body.series;
}

describe('x of GET /api/v2/dashboard/dimensions/{id}/series', () => {
  test('gives every row over the channel where there are few, without those that lack it', async () => {
    const [series] = await read(id, 'channels=speed&x=distance&maxPoints=10000');
    const some = drive.filter(({ row }) => row !== 700);
    expect(series!.x).toEqual(some.map(({ distance }) => distance));
    expect(series!.values).toEqual(some.map(({ speed }) => expect.closeTo(speed, 9)));
    expect(series!.times).toEqual(some.map(({ row }) => firstMs + row * 100));
  });

  test('gives extremes of stretches of equal distance where there are many', async () => {
    const [series] = await read(id, 'channels=speed&x=21:distance&maxPoints=400');
    expect(series!.values.length).toBeLessThanOrEqual(400);
    expect(series!.values.length).toBeGreaterThan(200);
    expect(series!.x).toEqual(series!.x!.toSorted((a, b) => a - b));
    // A hundred rows at one distance are one stretch, and their value is not lost.
    expect(Math.min(...(series!.values as number[]))).toBe(0);
    expect(Math.max(...(series!.values as number[]))).toBeCloseTo(
      Math.max(...drive.map(({ speed }) => speed)),
      9,
    );
    for (const [index, time] of series!.times.entries()) {
      const row = drive[(time - firstMs) / 100]!;
      expect([series!.x![index], series!.values[index]]).toEqual([
        row.distance,
        expect.closeTo(row.speed, 9),
      ]);
    }
  });

  test('covers the asked window, and reads all numbers and truth values when none is named', async () => {
    const series = await read(id, `x=distance&from=${at(1990)}&to=${at(2009)}`);
    expect(series.map(({ channel }) => channel)).toEqual([
      '21:speed',
      '21:lapDistance',
      '21:lap',
      '21:stands',
    ]);
    expect(series[3]!.values).toEqual([...Array(10).fill(false), ...Array(10).fill(true)]);
    expect(series[0]!.x!.slice(8, 12)).toEqual([3996, 3998, 4000, 4000]);
    const [none] = await read(id, 'channels=speed&x=distance&from=2027-01-01T00:00:00Z');
    expect(none).toMatchObject({ times: [], x: [], values: [] });
  });

  test.each([
    ['channels=speed&x=lapDistance', "Channel 'lapDistance' cannot be x: it falls from 2998 to 0."],
    ['channels=speed&x=place', "x: channel 'place' holds no numbers."],
    ['channels=speed&x=stands', "x: channel 'stands' holds no numbers."],
    ['channels=speed&x=depth', "x: channel 'depth' is not part of this dashboard."],
    ['x=depth', "x: channel 'depth' is not part of this dashboard."],
    ['split=depth', "split: channel 'depth' is not part of this dashboard."],
    ['x=place', "x: channel 'place' holds no numbers."],
    ['channels=speed,place&x=distance', "Channel 'place' holds text, which has no points with x or split."],
    ['channels=speed&x=', 'x must name a channel.'],
    [`channels=speed&x=${'d'.repeat(301)}`, 'x must name a channel.'],
  ])('refuses %s', async (query, message) => {
    expect(await get(`${id}/series?${query}`)).toMatchObject({
      status: 400,
      body: { status: 'error', message },
    });
  });

  test('refuses a channel of another recording, and a recording without the order of time', async () => {
    expect(await get(`${two}/series?channels=speed&x=distance`)).toMatchObject({
      status: 400,
      body: { message: "x: channel 'distance' is of another recording than the channels of 'drive.csv'." },
    });
    expect((await read(two, 'x=distance&maxPoints=100')).map(({ channel }) => channel)).not.toContain(
      '22:speed',
    );
    expect(await get(`${disordered}/series?channels=speed&x=height`)).toMatchObject({
      status: 400,
      body: {
        message:
          "The rows of recording 'drive.csv' are not in the order of time, so x and split do not fit it.",
      },
    });
  });
});

describe('split of GET /api/v2/dashboard/dimensions/{id}/series', () => {
  test('gives one trace for each value, with its times, whose x may begin again', async () => {
    const series = await read(id, 'channels=speed,stands&x=lapDistance&split=lap&maxPoints=10000');
    expect(series.map(({ channel, trace }) => [channel, trace!.value])).toEqual([
      ['21:speed', 1],
      ['21:speed', 2],
      ['21:speed', 3],
      ['21:stands', 1],
      ['21:stands', 2],
      ['21:stands', 3],
    ]);
    expect(series[1]!.trace).toEqual({ value: 2, from: at(1500), to: at(2999) });
    expect(series[1]!.x!.length).toBe(rowsOfLap);
    expect([series[1]!.x![0], series[1]!.x!.at(-1)]).toEqual([0, 2998]);
    expect(series[4]!.values.filter((value) => value === true).length).toBe(100);
  });

  test('splits by texts and truth values too, over time, each trace with as many points as asked for', async () => {
    const byText = await read(id, 'channels=speed&split=place&maxPoints=40');
    expect(byText.map(({ trace }) => trace!.value)).toEqual(['track', 'pit']);
    expect(byText.map(({ x }) => x)).toEqual([undefined, undefined]);
    expect(byText[1]!.values.every((value) => value === 0)).toBe(true);
    expect(byText[0]!.values.every((value) => Number(value) > 40)).toBe(true);
    for (const { values } of byText) expect(values.length).toBeLessThanOrEqual(40);
    const byTruth = await read(id, 'channels=speed&split=stands');
    expect(byTruth.map(({ trace }) => trace!.value)).toEqual([false, true]);
  });

  test('refuses a channel that changes with every row or falls within a trace', async () => {
    expect(await get(`${id}/series?channels=lap&split=speed`)).toMatchObject({
      status: 400,
      body: { message: "Channel 'speed' cannot split: it has more than 200 values." },
    });
    expect(await get(`${id}/series?channels=lap&split=stands&x=lapDistance`)).toMatchObject({
      status: 400,
      body: {
        message: "Channel 'lapDistance' cannot be x: it falls from 2998 to 0 where 'stands' is false.",
      },
    });
    expect(await get(`${dimensionId}/series?channels=speed&split=lap`)).toMatchObject({
      status: 400,
      body: { message: "split: channel 'lap' is not part of this dashboard." },
    });
  });
});

test('the only number among missing values stays, however few points are asked for', async () => {
  const few = await insertDimension('e', [await record(23, 'time [s],v,w\n0,,1\n1,5,2\n2,,3\n')]);
  const { series } = (await get(`${few}/series?channels=v&maxPoints=2`)).body;
  expect(series).toMatchObject([{ times: [1000], values: [5] }]);
});

/** The time of a row of the world's own recording. */
const second = (row: number) => new Date(firstMs + row * 1000).toISOString();

describe('GET /api/v2/dashboard/dimensions/{id}/statistics', () => {
  test('answers for each channel of the whole recording', async () => {
    const { status, body } = await get(`${dimensionId}/statistics`);
    const values = Array.from({ length: rows }, (_, row) => (row === 1234 ? 1000 : Math.sin(row / 50)));
    const mean = values.reduce((sum, value) => sum + value, 0) / rows;
    const lowest = values.indexOf(Math.min(...values));
    expect(status).toBe(200);
    expect(body).toEqual({
      dimensionId,
      from: second(0),
      to: second(rows - 1),
      statistics: [
        {
          key: '7:speed',
          name: 'speed',
          unit: 'm/s',
          count: rows,
          missing: 0,
          min: { value: values[lowest], at: second(lowest) },
          max: { value: 1000, at: second(1234) },
          mean: expect.closeTo(mean, 9),
          standardDeviation: expect.closeTo(
            Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (rows - 1)),
            9,
          ),
          states: null,
        },
        {
          key: '7:side',
          name: 'side',
          unit: null,
          count: rows,
          missing: 0,
          min: null,
          max: null,
          mean: null,
          standardDeviation: null,
          states: [
            { value: 'left', ms: 2_500_000, share: expect.closeTo(0.5, 3) },
            { value: 'right', ms: 2_499_000, share: expect.closeTo(0.5, 3) },
          ],
        },
      ],
    });
  });

  test('answers for a window, and names no extreme where there is no row', async () => {
    const { body } = await get(
      `${dimensionId}/statistics?channels=speed&from=${second(1230)}&to=${second(1239)}`,
    );
    expect(body).toMatchObject({ from: second(1230), to: second(1239) });
    expect(body.statistics).toMatchObject([{ count: 10, max: { value: 1000, at: second(1234) } }]);
    const none = await get(`${dimensionId}/statistics?channels=speed&from=2027-01-01T00:00:00Z`);
    expect(none.body.statistics).toMatchObject([{ count: 0, missing: 0, min: null, max: null, mean: null }]);
  });

  test.each([
    ['channels=', 'channels must name 1 to 64 channels.'],
    ['channels=altitude', "Channel 'altitude' is not part of this dashboard."],
    ['from=yesterday', 'from must be an ISO 8601 timestamp.'],
    ['from=2026-01-02&to=2026-01-01', 'from must not be after to.'],
  ])('refuses %s', async (text, message) => {
    expect(await get(`${dimensionId}/statistics?${text}`)).toMatchObject({
      status: 400,
      body: { status: 'error', message },
    });
  });

  test('answers 404 for a dashboard that does not exist', async () => {
    expect((await get('999999/statistics')).status).toBe(404);
  });
});
