/** Points of the same rows for all channels of a recording, as XY panels and tracks need them. */
import { describe, expect, test } from 'vitest';
import { ask } from '../../support/api.ts';
import { dashboardWorld } from './dashboard-world.ts';

const { api, people, firstMs, get, insertDimension, record } = await dashboardWorld();

const count = 12_000;
/** Each has another rhythm, so that their extremes are in different rows. Row 5000 is empty, row 6000 lacks a height. */
const rows = Array.from({ length: count }, (_, row) => ({
  speed: row === 7123 ? 900 : 50 + 10 * Math.sin(row / 30),
  height: row === 6000 ? null : row === 8123 ? -900 : 200 + 50 * Math.cos(row / 47),
  brakes: row % 9 === 0,
}));
const lineOf = ({ speed, height, brakes }: (typeof rows)[number], row: number) =>
  `${new Date(firstMs + row * 10).toISOString()},${row === 5000 ? ',,' : `${speed},${height ?? ''},${brakes}`},word`;
const csv = `time,speed,height,brakes,word\n${rows.map(lineOf).join('\n')}\n`;
const source = await record(31, csv);
const other = await record(32, `time,speed,height\n${new Date(firstMs).toISOString()},1,2\n`);
const unsorted = {
  ...(await record(33, csv)),
  description: { ...source.description, time: { ...source.description.time, sorted: false } },
};
const id = await insertDimension('b', [source, other]);
const disordered = await insertDimension('c', [unsorted]);

interface Series {
  channel: string;
  times: number[];
  values: (number | boolean | null)[];
}
async function read(dimension: number, query: string): Promise<Series[]> {
  const { status, body } = await get(`${dimension}/series?sameRows=true&${query}`);
  expect([status, body.message]).toEqual([200, undefined]);
  return body.series;
}

/** Each point is a row of the file, and the same one for each channel. */
function expectRows(series: readonly Series[], names: readonly ('speed' | 'height' | 'brakes')[]) {
  for (const [place, name] of names.entries()) {
    expect(series[place]!.times).toEqual(series[0]!.times);
    const wanted = series[place]!.times.map((time) => {
      const row = (time - firstMs) / 10;
      const value = row === 5000 ? null : rows[row]![name];
      return typeof value === 'number' ? expect.closeTo(value, 9) : value;
    });
    expect(series[place]!.values).toEqual(wanted);
  }
}

describe('sameRows of GET /api/v2/dashboard/dimensions/{id}/series', () => {
  test('gives the same rows for all channels, with the extremes of each', async () => {
    const series = await read(id, 'channels=31:speed,31:height,31:brakes&maxPoints=1000');
    expectRows(series, ['speed', 'height', 'brakes']);
    expect(series[0]!.times.length).toBeGreaterThan(500);
    expect(series[0]!.times.length).toBeLessThanOrEqual(1000);
    expect(series[0]!.times).toEqual(series[0]!.times.toSorted((a, b) => a - b));
    expect(series[0]!.values).toContain(900);
    expect(series[1]!.values).toContain(-900);
    expect([series[0]!.times[0], series[0]!.times.at(-1)]).toEqual([firstMs, firstMs + (count - 1) * 10]);
  });

  test('gives every row where there are few, also without a value', async () => {
    const at = (row: number) => new Date(firstMs + row * 10).toISOString();
    const series = await read(id, `channels=31:speed,31:height&from=${at(4990)}&to=${at(5010)}`);
    expect(series[0]!.times).toHaveLength(21);
    expectRows(series, ['speed', 'height']);
  });

  test('gives rows of a recording that is not in the order of time, in the order of time', async () => {
    const series = await read(disordered, 'channels=speed,height&maxPoints=300');
    expectRows(series, ['speed', 'height']);
    expect(series[0]!.times).toEqual(series[0]!.times.toSorted((a, b) => a - b));
  });

  test('keeps to maxPoints, however few they are', async () => {
    for (const most of [2, 3, 4, 5, 7, 20]) {
      const series = await read(id, `channels=31:speed,31:height,31:brakes&maxPoints=${most}`);
      expect(series[0]!.times.length).toBeLessThanOrEqual(most);
      expect(series[0]!.times.length).toBeGreaterThan(1);
      expectRows(series, ['speed', 'height', 'brakes']);
    }
  });

  test('reads each recording by itself, and all channels but texts when none is named', async () => {
    const series = await read(id, 'maxPoints=100');
    expect(series.map(({ channel }) => channel)).toEqual([
      '31:speed',
      '31:height',
      '31:brakes',
      '32:speed',
      '32:height',
    ]);
    expectRows(series.slice(0, 3), ['speed', 'height', 'brakes']);
    expect(series[3]!.values).toEqual([1]);
    expect(series[4]!.values).toEqual([2]);
    const [none] = await read(id, 'channels=31:speed&from=2027-01-01T00:00:00Z');
    expect([none!.times, none!.values]).toEqual([[], []]);
  });

  test('holds derived channels too', async () => {
    const { status, body } = await ask(api.url, 'POST', `/api/v2/dashboard/dimensions/${id}/series`, {
      token: people.Developer.token,
      json: {
        channels: ['31:speed'],
        derived: [{ name: 'double', expression: '"31:speed" * 2' }],
        sameRows: true,
        maxPoints: 500,
      },
    });
    expect(status).toBe(200);
    const [speed, double] = body.series as [Series, Series];
    expect(double.times).toEqual(speed.times);
    expect(double.values).toEqual(
      speed.values.map((value) => (typeof value === 'number' ? expect.closeTo(2 * value, 6) : null)),
    );
  });

  test('is refused for texts, with an axis, and when it is no truth value', async () => {
    const refusal = async (query: string) => {
      const { status, body } = await get(`${id}/series?${query}`);
      return [status, body.message];
    };
    expect(await refusal('sameRows=true&channels=word')).toEqual([
      400,
      "Channel 'word' holds text, which has no points with sameRows.",
    ]);
    expect(await refusal('sameRows=true&channels=speed&x=height')).toEqual([
      400,
      'sameRows must not be given with x or split.',
    ]);
    expect((await refusal('sameRows=perhaps'))[0]).toBe(400);
  });
});
