import { describe, expect, test } from 'vitest';
import { ask } from '../../support/api.ts';
import { dashboardWorld } from './dashboard-world.ts';

const { api, dimensionId, firstMs, get, insertDimension, people, record } = await dashboardWorld();

const count = 6000;
const at = (row: number) => new Date(firstMs + row * 100).toISOString();
const speedOf = (row: number) => 20 + 10 * Math.sin(row / 200);
const drive = Array.from({ length: count }, (_, row) => ({
  row,
  speed: speedOf(row),
  lap: 1 + Math.floor(row / 2000),
}));
const source = await record(
  31,
  `time,speed [m/s],lap,braking,place\n${drive.map(({ row, speed, lap }) => `${at(row)},${speed},${lap},${row % 3 === 0},p${lap}`).join('\n')}\n`,
);
const other = await record(32, `time,speed,height\n${at(0)},1,2\n${at(1)},2,4\n${at(2)},,6\n`);
const unsorted = {
  ...other,
  description: { ...other.description, time: { ...other.description.time, sorted: false } },
};
const id = await insertDimension('b', [source]);
const two = await insertDimension('c', [source, other]);
const disordered = await insertDimension('d', [unsorted]);

const post = (dimension: number, what: 'series' | 'statistics' | 'export', json: object) =>
  ask(api.url, 'POST', `/api/v2/dashboard/dimensions/${dimension}/${what}`, {
    token: people.Trainee.token,
    json,
  });
const channel = (name: string, expression: string, unit?: string) => ({
  name,
  expression,
  ...(unit === undefined ? {} : { unit }),
});

describe('POST /api/v2/dashboard/dimensions/{id}/series', () => {
  test('answers as GET does when nothing is derived', async () => {
    const { status, body } = await post(id, 'series', {
      channels: ['speed', 'place'],
      maxPoints: 100,
      from: at(10),
    });
    expect(status).toBe(200);
    expect(body).toEqual((await get(`${id}/series?channels=speed,place&maxPoints=100&from=${at(10)}`)).body);
    expect((await post(id, 'series', {})).body).toEqual((await get(`${id}/series`)).body);
  });

  test('answers derived channels under =name after the channels, every row where there are few', async () => {
    const { body } = await post(id, 'series', {
      channels: ['31:speed'],
      maxPoints: 10_000,
      derived: [channel('kilometres', 'speed * 3.6', 'km/h'), channel('hard', 'if(braking, speed > 25, 0)')],
    });
    const [stored, fast, hard] = body.series;
    expect([stored.channel, stored.outputId]).toEqual(['31:speed', undefined]);
    expect(fast).toMatchObject({ channel: '=kilometres', name: 'kilometres', unit: 'km/h', outputId: 31 });
    expect(fast.times).toEqual(stored.times);
    expect(fast.values).toEqual(drive.map(({ speed }) => expect.closeTo(speed * 3.6, 9)));
    expect(hard).toMatchObject({ channel: '=hard', unit: null });
    expect(hard.values).toEqual(drive.map(({ row, speed }) => Number(row % 3 === 0 && speed > 25)));
  });

  test('integrates and differentiates over rows where a recording has no time', async () => {
    const numbered = await insertDimension('f', [await record(33, 'speed,gear\n2,1\n4,1\n4,2\n0,2\n')]);
    const derived = [channel('sum', 'integrate(speed)'), channel('change', 'differentiate(speed)')];
    const { body } = await post(numbered, 'series', { channels: ['speed'], derived });
    expect(body.series.map(({ values }: { values: unknown }) => values)).toEqual([
      [2, 4, 4, 0],
      [0, 3, 7, 9],
      [null, 2, 0, -4],
    ]);
  });

  test('gives extremes of stretches of time where there are many rows', async () => {
    const { body } = await post(id, 'series', {
      channels: [],
      derived: [channel('k', 'speed * 3.6')],
      maxPoints: 100,
    });
    const [{ values, times }] = body.series;
    expect(values.length).toBeLessThanOrEqual(100);
    const all = drive.map(({ speed }) => speed * 3.6);
    expect(Math.max(...values)).toBeCloseTo(Math.max(...all), 9);
    expect(Math.min(...values)).toBeCloseTo(Math.min(...all), 9);
    for (const [index, time] of times.entries())
      expect(values[index]).toBeCloseTo(all[(time - firstMs) / 100]!, 9);
  });

  test('computes over rows from the start of the recording, whatever the window', async () => {
    const derived = [
      channel('distance', 'integrate(speed)'),
      channel('before', 'lag(speed, 10)'),
      channel('g', 'differentiate(speed)'),
    ];
    const whole = (await post(id, 'series', { channels: [], derived, maxPoints: 10_000 })).body.series;
    const part = (
      await post(id, 'series', { channels: [], derived, maxPoints: 10_000, from: at(5000), to: at(5100) })
    ).body.series;
    for (const [index, { times, values }] of part.entries()) {
      expect(times).toEqual(whole[index].times.slice(5000, 5101));
      expect(values).toEqual(whole[index].values.slice(5000, 5101));
    }
    let distance = 0;
    for (let row = 1; row <= 5000; row++) distance += ((speedOf(row) + speedOf(row - 1)) / 2) * 0.1;
    expect(part[0].values[0]).toBeCloseTo(distance, 6);
    expect(part[1].values[0]).toBeCloseTo(speedOf(4990), 9);
    expect(part[2].values[0]).toBeCloseTo((speedOf(5000) - speedOf(4999)) / 0.1, 6);
  });

  test('draws over a derived distance, one trace for each lap', async () => {
    const { status, body } = await post(id, 'series', {
      channels: ['speed'],
      x: '=distance',
      split: 'lap',
      derived: [channel('distance', 'integrate(speed)', 'm')],
      maxPoints: 200,
    });
    expect([status, body.message]).toEqual([200, undefined]);
    expect(
      body.series.map((one: { channel: string; trace: { value: number } }) => [one.channel, one.trace.value]),
    ).toEqual([
      ['31:speed', 1],
      ['31:speed', 2],
      ['31:speed', 3],
      ['=distance', 1],
      ['=distance', 2],
      ['=distance', 3],
    ]);
    for (const { x, values } of body.series.slice(3)) expect(x).toEqual(values);
    expect(body.series[1].x[0]).toBeGreaterThan(body.series[0].x.at(-1));
  });

  test('is made for each recording that has all its channels, which answers say', async () => {
    const derived = [channel('twice', 'speed * 2'), channel('slope', '"height" / speed')];
    const { body } = await post(two, 'series', { channels: [], derived });
    expect(
      body.series.map((one: { channel: string; outputId: number }) => [one.channel, one.outputId]),
    ).toEqual([
      ['=twice', 31],
      ['=twice', 32],
      ['=slope', 32],
    ]);
    expect(body.series[2].values).toEqual([2, 2, null]);
    const byKey = await post(two, 'series', { channels: [], derived: [channel('k', '"31:speed" + 1')] });
    expect(byKey.body.series).toMatchObject([{ outputId: 31 }]);
    expect(await post(two, 'series', { channels: ['32:speed'], x: '=slope', derived })).toMatchObject({
      status: 400,
    });
    expect(await post(two, 'series', { channels: ['31:speed'], x: '=slope', derived })).toMatchObject({
      status: 400,
      body: { message: "x: channel '=slope' is not part of this dashboard." },
    });
  });

  test.each([
    ['speed +', 7, 'Where the expression ends, a number, a channel, a function or "(" is expected.'],
    ['1 + depth', 4, "Channel 'depth' is not part of this dashboard."],
    ['place + 1', 0, "Channel 'place' holds text; expressions take numbers and truth values."],
    ["speed'; drop table x", 5, `'`.concat("''", ' is not part of an expression.')],
    ['speed + height', 0, 'No recording has all channels of the expression.'],
  ])('refuses the expression %j at its place', async (expression, position, message) => {
    const dimension = expression.includes('height') ? await twoApart : id;
    for (const what of ['series', 'statistics'] as const) {
      expect(
        await post(dimension, what, { derived: [channel('a', 'speed'), channel('b', expression)] }),
      ).toMatchObject({
        status: 400,
        body: {
          status: 'error',
          message: `$.derived[1].expression, position ${position}: ${message}`,
          errors: [{ path: '$.derived[1].expression', position, message }],
        },
      });
    }
  });
  const twoApart = record(33, `time,height\n${at(0)},1\n`).then((high) =>
    insertDimension('e', [source, high]),
  );

  test('refuses names twice, too many, rows without order, and questions of nothing', async () => {
    const refused = async (json: object, dimension = id) => {
      const { status, body } = await post(dimension, 'series', json);
      return [status, body.message];
    };
    expect(await refused({ derived: [channel('a', '1'), channel('a', '2')] })).toEqual([
      400,
      "$.derived[1].name: The name 'a' appears more than once.",
    ]);
    expect(
      await refused({ derived: Array.from({ length: 17 }, (_, index) => channel(`d${index}`, '1')) }),
    ).toEqual([400, expect.stringContaining('derived must hold at most 16 channels.')]);
    const long = `speed${'+1'.repeat(99)}`;
    expect(
      await refused({ derived: Array.from({ length: 5 }, (_, index) => channel(`d${index}`, long)) }),
    ).toEqual([
      400,
      '$.derived[4].expression, position 0: All expressions have at most 800 numbers, channels and operations.',
    ]);
    expect(await refused({ derived: [channel('a', '1 + integrate(speed)')] }, disordered)).toEqual([
      400,
      "$.derived[0].expression, position 4: The rows of recording 'drive.csv' are not in the order of time, which this needs.",
    ]);
    expect(
      (await post(disordered, 'series', { channels: [], derived: [channel('a', 'speed * 2')] })).body.series,
    ).toMatchObject([{ values: [2, 4, null] }]);
    expect(await refused({ channels: [] })).toEqual([
      400,
      expect.stringContaining('channels must name 1 to 64 channels.'),
    ]);
    expect(await refused({ maxPoints: 10_001 })).toEqual([
      400,
      expect.stringContaining('maxPoints must be between 2 and 10000.'),
    ]);
    expect(await refused({ from: at(2), to: at(1) })).toEqual([
      400,
      expect.stringContaining('from must not be after to.'),
    ]);
    expect((await post(999_999, 'series', {})).status).toBe(404);
  });
});

describe('POST /api/v2/dashboard/dimensions/{id}/statistics', () => {
  test('answers as GET does, and for derived channels from every row', async () => {
    const window = { from: at(100), to: at(4000) };
    const derived = [channel('k', 'speed * 3.6', 'km/h'), channel('distance', 'integrate(speed)')];
    const { status, body } = await post(id, 'statistics', {
      channels: ['speed', 'place'],
      derived,
      ...window,
    });
    expect([status, body.message]).toEqual([200, undefined]);
    const plain = (await get(`${id}/statistics?channels=speed,place&from=${at(100)}&to=${at(4000)}`)).body;
    expect(body.statistics.slice(0, 2)).toEqual(plain.statistics);
    expect([body.from, body.to]).toEqual([plain.from, plain.to]);
    const [speed] = plain.statistics;
    expect(body.statistics[2]).toEqual({
      ...speed,
      key: '=k',
      name: 'k',
      unit: 'km/h',
      outputId: 31,
      min: { value: expect.closeTo(speed.min.value * 3.6, 9), at: speed.min.at },
      max: { value: expect.closeTo(speed.max.value * 3.6, 9), at: speed.max.at },
      mean: expect.closeTo(speed.mean * 3.6, 9),
      standardDeviation: expect.closeTo(speed.standardDeviation * 3.6, 9),
    });
    expect(body.statistics[3]).toMatchObject({
      key: '=distance',
      min: { at: at(100) },
      max: { at: at(4000) },
    });
    expect(body.statistics[3].min.value).toBeGreaterThan(200);
    expect(
      (await post(dimensionId, 'statistics', { channels: [], derived: [channel('a', 'speed')] })).body
        .statistics,
    ).toHaveLength(1);
  });
});

describe('POST /api/v2/dashboard/dimensions/{id}/export', () => {
  test('sends the rows of derived channels as they are drawn, and names the place of a fault', async () => {
    const window = { from: at(100), to: at(103) };
    const derived = [
      channel('k', 'speed * 3.6', 'km/h'),
      channel('distance', 'integrate(speed)'),
      channel('ratio', 'speed / 2', ''),
    ];
    const drawn = (await post(id, 'series', { channels: ['speed'], derived, ...window })).body.series;
    const answer = await fetch(`${api.url}/api/v2/dashboard/dimensions/${id}/export`, {
      method: 'POST',
      headers: { authorization: `Bearer ${people.Developer.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ channels: ['speed'], derived, ...window }),
    });
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const [head, ...lines] = (await answer.text()).trim().split('\n');
    expect(head).toBe('time,speed [m/s],k [km/h],distance,ratio');
    expect(lines.map((line) => line.split(',').slice(1).map(Number))).toEqual(
      lines.map((_, row) => drawn.map(({ values }: { values: number[] }) => values[row])),
    );
    const refused = await post(id, 'export', { channels: [], derived: [channel('a', 'speed +')] });
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('position 7')]);
    expect((await post(id, 'export', { channels: [], derived: [] })).status).toBe(400);
    expect((await post(id, 'export', { channels: ['speed'], format: 'xlsx' })).status).toBe(400);
  });
});
