import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sourcesWithin } from '../../../store/dashboards/dimension-sources.ts';
import { createDataSource, ensurePlatformDataSource } from '../../../store/objects/data-sources.ts';
import { newOutputKey } from '../../../store/objects/object-store.ts';
import { dashboardWorld } from './dashboard-world.ts';

const { api, dimensionId, firstMs, get, insertDimension, folder, record } = await dashboardWorld();

const sources = async () => (await sourcesWithin(api.composed.services.database, dimensionId)) ?? [];

describe('GET /api/v2/dashboard/dimensions/{id}/series', () => {
  const keys = async () =>
    (await get(`${dimensionId}`)).body.sources[0].channels.map(
      (channel: { key: string }) => channel.key,
    ) as string[];
  const query = (channels: string[], rest = '') =>
    get(`${dimensionId}/series?channels=${channels.map(encodeURIComponent).join(',')}${rest}`);

  test('returns each row of a short range unchanged, in the requested order', async () => {
    const [speed, side] = (await keys()) as [string, string];
    const from = new Date(firstMs + 10_000).toISOString();
    const to = new Date(firstMs + 13_000).toISOString();
    const { status, body } = await query([side, speed], `&from=${from}&to=${to}`);
    const times = [10, 11, 12, 13].map((second) => firstMs + second * 1000);
    expect(status).toBe(200);
    expect(body).toEqual({
      dimensionId,
      from,
      to,
      series: [
        { channel: side, name: 'side', unit: null, times, values: ['left', 'right', 'left', 'right'] },
        {
          channel: speed,
          name: 'speed',
          unit: 'm/s',
          times,
          values: [10, 11, 12, 13].map((row) => Math.sin(row / 50)),
        },
      ],
    });
  });

  test('thins out a long range and keeps its peaks', async () => {
    const [speed] = (await keys()) as [string, string];
    const { body } = await query([speed], '&maxPoints=200');
    expect([body.from, body.to]).toEqual(['2026-01-01T00:00:00.000Z', '2026-01-01T01:23:19.000Z']);
    const [series] = body.series;
    expect(series.times.length).toBeLessThanOrEqual(200);
    expect(series.times.length).toBe(series.values.length);
    expect(Math.max(...series.values)).toBe(1000);
    expect(series.times).toEqual([...series.times].sort((a, b) => a - b));
    expect((await query([speed])).body.series[0].times.length).toBeLessThanOrEqual(2000);
  });

  test.each([2, 3])(
    'returns no more than %d points: lowest and highest, or first and last',
    async (maxPoints) => {
      const { body } = await query(await keys(), `&maxPoints=${maxPoints}`);
      const whole = (await query(await keys(), '&maxPoints=10000')).body.series;
      for (const [index, { times, values }] of body.series.entries()) {
        const all: (number | string)[] = whole[index].values;
        expect(times.length).toBeLessThanOrEqual(maxPoints);
        expect(times).toEqual([...times].sort((a, b) => a - b));
        const numbers = all.filter((value) => typeof value === 'number');
        if (numbers.length === 0) expect([values[0], values.at(-1)]).toEqual([all[0], all.at(-1)]);
        else expect([...values].sort((a, b) => a - b)).toEqual([Math.min(...numbers), Math.max(...numbers)]);
        for (const [at, time] of times.entries())
          expect(all[whole[index].times.indexOf(time)]).toBe(values[at]);
      }
      const traces = await get(`${dimensionId}/series?channels=speed&split=side&maxPoints=${maxPoints}`);
      expect(traces.status).toBe(200);
      for (const { times } of traces.body.series) expect(times.length).toBeLessThanOrEqual(maxPoints);
    },
  );

  test.each([
    ['from=2027-01-01', ['2027-01-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z']],
    ['to=2025-01-01', ['2025-01-01T00:00:00.000Z', '2025-01-01T00:00:00.000Z']],
    ['from=2026-01-01T01:00:00Z', ['2026-01-01T01:00:00.000Z', '2026-01-01T01:23:19.000Z']],
  ])('answers a window that does not end before it begins: %s', async (asked, expected) => {
    const { body } = await query(await keys(), `&${asked}`);
    expect([body.from, body.to]).toEqual(expected);
    const isOutside = expected[0] === expected[1];
    expect(body.series.map(({ times }: { times: number[] }) => times.length === 0)).toEqual([
      isOutside,
      isOutside,
    ]);
  });

  test('reads channels by name, and all of them when none is named', async () => {
    const [speed, side] = (await keys()) as [string, string];
    const read = async (text: string) =>
      (await get(`${dimensionId}/series?${text}`)).body.series.map(
        ({ channel }: { channel: string }) => channel,
      );
    expect(await read('channels=side')).toEqual([side]);
    expect(await read(`channels=speed,${encodeURIComponent(speed)},side`)).toEqual([speed, side]);
    expect(await read('')).toEqual([speed, side]);
  });

  test('reads a name of every recording, to 64 channels in all', async () => {
    const [source] = await sources();
    const id = await insertDimension('d', [source!, { ...source!, outputId: 8 }]);
    const { body } = await get(`${id}/series?channels=speed`);
    expect(body.series.map(({ channel }: { channel: string }) => channel)).toEqual(['7:speed', '8:speed']);
    const many = Array.from({ length: 65 }, (_, at) => ({ ...source!, outputId: 100 + at }));
    const wide = await insertDimension('e', many);
    expect((await get(`${wide}/series?maxPoints=10`)).body.series).toHaveLength(64);
    expect(await get(`${wide}/series?channels=speed`)).toMatchObject({
      status: 400,
      body: { message: 'channels name 65 channels; at most 64 are read at once.' },
    });
  });

  test('reads a window before the zero of a recording, whose times are written as before 1970', async () => {
    const id = await insertDimension('f', [await record(31, 'time [s],level\n-2,5\n-1,6\n0,7\n1,8\n')]);
    const { from, to } = (await get(`${id}`)).body.sources[0].time;
    expect(from).toBe('1969-12-31T23:59:58.000Z');
    const { status, body } = await get(`${id}/series?from=${from}&to=${to}`);
    expect([status, body.series?.[0].times]).toEqual([200, [-2000, -1000, 0, 1000]]);
    const part = await get(`${id}/statistics?from=${from}&to=1969-12-31T23:59:59Z`);
    expect(part.body.statistics[0]).toMatchObject({
      count: 2,
      max: { value: 6, at: '1969-12-31T23:59:59.000Z' },
    });
    const file = await get(`${id}/export?to=1969-12-31T23:59:59Z`);
    expect(file.body).toBe('time [s],level\n-2.0,5\n-1.0,6\n');
  });

  test.each([
    ['channels=', 'channels must name 1 to 64 channels.'],
    [
      `channels=${Array.from({ length: 65 }, (_, i) => `7:${i}`).join()}`,
      'channels must name 1 to 64 channels.',
    ],
    ['channels=7:nothing', "Channel '7:nothing' is not part of this dashboard."],
    ['channels=7:x&maxPoints=1', 'maxPoints must be between 2 and 10000.'],
    ['channels=7:x&maxPoints=10001', 'maxPoints must be between 2 and 10000.'],
    ['channels=7:x&from=yesterday', 'from must be an ISO 8601 timestamp.'],
    ['channels=7:x&to=2026-02-30', 'to must be an ISO 8601 timestamp.'],
    ['channels=7:x&from=2026-01-02&to=2026-01-01', 'from must not be after to.'],
  ])('refuses %s', async (text, message) => {
    expect(await get(`${dimensionId}/series?${text}`)).toMatchObject({
      status: 400,
      body: { status: 'error', message },
    });
  });

  test('answers 502 when the bytes of a recording are missing in its own store, or broken', async () => {
    const { database, objects } = api.composed.services;
    const whole = (await sources())[0]!;
    // There is a copy of its bytes, which another store has sent.
    expect((await query([whole.channels[0]!.key])).status).toBe(200);
    const access = { ...objects.platformAccess, prefix: 'elsewhere/' };
    const elsewhere = await createDataSource(database, objects.secrets, 'elsewhere', access);
    if (elsewhere.outcome !== 'saved') throw new Error(elsewhere.outcome);
    const source = await ensurePlatformDataSource(database, objects.platformAccess);
    const broken = newOutputKey();
    const bytes = join(folder, 'broken.parquet');
    await writeFile(bytes, 'PAR1 and nothing else');
    await objects.of(source).put(broken, createReadStream(bytes), { signal: new AbortController().signal });
    const cases = [
      ['b', { ...whole, dataSourceId: elsewhere.dataSource.id }],
      ['c', { ...whole, objectKey: broken, sha256: null }],
    ] as const;
    for (const [node, changed] of cases) {
      const id = await insertDimension(node, [changed]);
      const answer = await get(`${id}/series?channels=${encodeURIComponent(whole.channels[0]!.key)}`);
      expect([node, answer.status]).toEqual([node, 502]);
    }
  });
});
