import { gzipSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, test } from 'vitest';
import { openDatabase } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { inputNode, tabularNode as tabularNodeOf, templateFile } from '../support/templates.ts';
import {
  channelOf,
  type RecordingSession,
  realFile,
  recordingStage,
  rowsOf,
  type SeriesView,
  table,
} from './recording-session.ts';

const { client, platform } = await recordingStage();
const database = await openDatabase(platform, 1);

/** A session whose graph succeeded with these uploads, with its dashboard. */
async function recorded(...uploads: Parameters<RecordingSession['upload']>[0][]) {
  const session = await client.newSession();
  for (const upload of uploads) await session.upload(upload);
  const nodes = await session.settled();
  expect(nodes.map(({ state, statusDetails }) => [state, statusDetails])).toEqual(
    nodes.map(() => ['Succeeded', '']),
  );
  return { session, dashboard: await session.dashboard() };
}

/** A session whose dashboard makes a scenario. */
async function scenarioSession(templateName: string): Promise<RecordingSession> {
  const Nodes = [
    inputNode('upload'),
    tabularNodeOf('recording', 'upload'),
    {
      Name: 'dashboard',
      NodeTemplateName: 'system-next-dimension',
      DefaultConfiguration: { autoCreateScenarioInstance: true, scenarioName: 'Drive' },
      Parents: ['recording'],
    },
  ];
  await client.call('POST', '/api/v2/admin/session-templates', templateFile(templateName, Nodes));
  return client.newSession(templateName);
}

const numbers = (rows: Record<string, string>[], name: string) => rows.map((row) => Number(row[name]));
const pointsOf = ({ times, values }: SeriesView) => times.map((time, index) => [time, values[index]]);

describe('real files become dashboards whose series equal what the files hold', () => {
  test('csv', async () => {
    const file = realFile('seattle-weather.csv');
    const rows = rowsOf(file.toString(), ',');
    const { session, dashboard } = await recorded({ bytes: file, identifier: 'seattle-weather.csv' });
    expect(dashboard).toMatchObject({ dashboardName: 'Recording', dashboardVersion: 'next' });
    const source = dashboard.sources[0]!;
    expect(source).toMatchObject({
      name: 'seattle-weather.csv',
      rowCount: rows.length,
      time: { kind: 'absolute', from: '2012-01-01T00:00:00.000Z', to: '2015-12-31T00:00:00.000Z' },
    });
    expect(source.channels.map(({ id, type }) => [id, type])).toEqual([
      ['precipitation', 'number'],
      ['temp_max', 'number'],
      ['temp_min', 'number'],
      ['wind', 'number'],
      ['weather', 'text'],
    ]);
    const times = rows.map(({ date }) => Date.parse(`${date}T00:00:00Z`));
    const series = await session.series(dashboard, source, ['temp_max', 'wind']);
    expect(series.map((one) => one.times)).toEqual([times, times]);
    expect(series.map((one) => one.values)).toEqual([numbers(rows, 'temp_max'), numbers(rows, 'wind')]);
    const drawn = dashboard.layout?.panels.flatMap(({ channels }) => channels) ?? [];
    expect(drawn).toContain(channelOf(source, 'temp_max').key);
    expect(source.channels.map(({ key }) => key)).toEqual(expect.arrayContaining(drawn));
  });

  test('csv that was sent packed with gzip', async () => {
    const file = realFile('seattle-weather-hourly-normals.csv');
    const rows = rowsOf(file.toString(), ',');
    const { session, dashboard } = await recorded({
      bytes: gzipSync(file),
      identifier: 'hourly.csv',
      contentEncoding: 'gzip',
    });
    const source = dashboard.sources[0]!;
    expect(source.rowCount).toBe(rows.length);
    const [pressure] = await session.series(dashboard, source, ['pressure']);
    expect(pressure?.values).toEqual(numbers(rows, 'pressure'));
    expect(pressure?.times).toEqual(rows.map(({ date }) => Date.parse(`${date}Z`)));
  });

  test('csv inside a .gz file', async () => {
    const file = realFile('co2-concentration.csv');
    const rows = rowsOf(file.toString(), ',');
    const { session, dashboard } = await recorded({
      bytes: gzipSync(file),
      identifier: 'co2.csv.gz',
      contentType: 'application/gzip',
    });
    const [co2] = await session.series(dashboard, dashboard.sources[0]!, ['CO2']);
    expect(co2?.values).toEqual(numbers(rows, 'CO2'));
  });

  test('tsv without a time: rows are numbered, and the log of the run says so', async () => {
    const file = realFile('unemployment.tsv');
    const rows = rowsOf(file.toString(), '\t');
    const { session, dashboard } = await recorded({
      bytes: file,
      identifier: 'unemployment.tsv',
      contentType: 'text/tab-separated-values',
    });
    const source = dashboard.sources[0]!;
    expect(await session.warnings(1)).toEqual([expect.stringMatching(/^unemployment.tsv: .*no time/)]);
    expect(source).toMatchObject({ rowCount: rows.length, time: { kind: 'relative', basis: 'row-number' } });
    const series = await session.series(dashboard, source, ['id', 'rate']);
    expect(series.map(({ values }) => values)).toEqual([numbers(rows, 'id'), numbers(rows, 'rate')]);
  });

  test('times finer than a millisecond: the dashboard reaches to its last row', async () => {
    const bytes = 'time [ms],v\n0.2,1\n1.4,9\n';
    const { session, dashboard } = await recorded({ bytes, identifier: 'fine.csv' });
    const { from, to } = dashboard.sources[0]!.time;
    expect([from, to].map((time) => Date.parse(time!))).toEqual([0, 2]);
    const range = { from: from!, to: to! };
    const [v] = await session.series(dashboard, dashboard.sources[0]!, ['v'], range);
    expect(v!.times).toEqual([0.2, 1.4]);
  });

  test('json', async () => {
    const file = realFile('ohlc.json');
    const rows: { date: string; open: number; close: number; signal: string; ret: number | null }[] =
      JSON.parse(file.toString());
    const { session, dashboard } = await recorded({
      bytes: file,
      identifier: 'ohlc.json',
      contentType: 'application/json',
    });
    const source = dashboard.sources[0]!;
    const series = await session.series(dashboard, source, ['open', 'close', 'signal']);
    expect(series.map(({ values }) => values)).toEqual([
      rows.map(({ open }) => open),
      rows.map(({ close }) => close),
      rows.map(({ signal }) => signal),
    ]);
    expect(series[0]?.times).toEqual(rows.map(({ date }) => Date.parse(`${date}T00:00:00Z`)));
  });

  test('parquet of three million rows: an hour of it, value for value', async () => {
    const file = realFile('flights-3m.parquet');
    const { session, dashboard } = await recorded({
      bytes: file,
      identifier: 'flights.parquet',
      contentType: 'application/vnd.apache.parquet',
    });
    const source = dashboard.sources[0]!;
    expect(source).toMatchObject({ rowCount: 3_000_000, time: { from: '2001-01-01T00:01:00.000Z' } });
    const [from, to] = ['2001-03-05T08:00:00.000Z', '2001-03-05T09:00:00.000Z'];
    const [delay] = await session.series(dashboard, source, ['delay'], { from, to });
    const expected = await flightDelays(from, to);
    expect(expected.length).toBeGreaterThan(500);
    expect(pointsOf(delay!).sort(byTimeAndValue)).toEqual(expected.sort(byTimeAndValue));
  });
});

async function flightDelays(from: string, to: string): Promise<Array<[number, number]>> {
  const path = new URL('../../node_modules/vega-datasets/data/flights-3m.parquet', import.meta.url).pathname;
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const reader = await connection.runAndReadAll(
    `select epoch_ms(date)::double, delay::double from read_parquet($1)
      where epoch_ms(date) between $2 and $3`,
    [path, Date.parse(from), Date.parse(to)],
  );
  connection.closeSync();
  instance.closeSync();
  return reader.getRows() as Array<[number, number]>;
}

function byTimeAndValue(a: unknown[], b: unknown[]): number {
  return Number(a[0]) - Number(b[0]) || Number(a[1]) - Number(b[1]);
}

describe('a session is one dashboard over all that was uploaded to it', () => {
  test('several uploads are its sources, in the order of the uploads', async () => {
    const { session, dashboard } = await recorded(
      { bytes: table(1, 2), identifier: 'one.csv' },
      { bytes: table(3, 4, 5), identifier: 'two.csv' },
      { bytes: realFile('global-temp.csv'), identifier: 'three.csv' },
    );
    expect(dashboard.sources.map(({ name, rowCount }) => [name, rowCount])).toEqual([
      ['one.csv', 2],
      ['two.csv', 3],
      ['three.csv', 144],
    ]);
    const { dimensions } = await client.call('GET', `/api/v2/sessions/${session.id}`);
    expect(dimensions).toHaveLength(1);
    const [speed] = await session.series(dashboard, dashboard.sources[1]!, ['speed']);
    expect(speed?.values).toEqual([3, 4, 5]);
  });

  test('an upload under the same name replaces its source', async () => {
    const { session, dashboard: before } = await recorded(
      { bytes: table(1, 2), identifier: 'one.csv' },
      { bytes: table(3, 4), identifier: 'two.csv' },
    );
    expect((await session.upload({ bytes: table(7, 8, 9), identifier: 'one.csv' })).status).toBe(200);
    await session.settled();
    const after = await session.dashboard();
    expect(after.id).toBe(before.id);
    expect(after.sources.map(({ name, rowCount }) => [name, rowCount])).toEqual([
      ['one.csv', 3],
      ['two.csv', 2],
    ]);
    const [speed] = await session.series(after, after.sources[0]!, ['speed']);
    expect(speed?.values).toEqual([7, 8, 9]);
  });

  test('a broken file fails its node with line and column, and a later good file is processed', async () => {
    const session = await client.newSession();
    await session.upload({ bytes: 'time,speed\n0,1\n1,2,3\n2,4\n', identifier: 'broken.csv' });
    const failed = await eventually('the failure', async () =>
      (await session.progress()).find(({ state }) => state === 'Failed'),
    );
    expect(failed.name).toBe('tabular-autodetect');
    expect(failed.statusDetails).toMatch(/^validation: broken\.csv: line 3, column 3: /i);
    await session.upload({ bytes: table(1, 2), identifier: 'good.csv' });
    const nodes = await session.settled();
    expect(nodes.map(({ state }) => state)).toEqual(['Succeeded', 'Succeeded', 'Succeeded']);
    expect((await session.dashboard()).sources.map(({ name }) => name)).toEqual(['good.csv']);
  });

  test('a file with a time that cannot be written is refused, and later uploads appear', async () => {
    const session = await client.newSession();
    await session.upload({ bytes: 'time,v\n0,1\n1,2\n', identifier: 'one.csv' });
    await session.settled();
    await session.upload({ bytes: 'time,v\n0,1\n1e17,2\n', identifier: 'far.csv' });
    const failed = await eventually('the failure', async () =>
      (await session.progress()).find(({ state }) => state === 'Failed'),
    );
    expect(failed.statusDetails).toMatch(
      /^validation: far\.csv: line 3, column 1 \("time"\): The time "1e17"/i,
    );
    await session.upload({ bytes: table(1, 2), identifier: 'two.csv' });
    expect((await session.settled()).map(({ state }) => state)).toEqual([
      'Succeeded',
      'Succeeded',
      'Succeeded',
    ]);
    expect((await session.dashboard()).sources.map(({ name }) => name)).toEqual(['one.csv', 'two.csv']);
  });

  test.each([1e20, 302_000_000_000_000])(
    'a stored recording that ends at %d ms blocks no dashboard: its times are not shown',
    async (endMs) => {
      const session = await scenarioSession(`with-end-${endMs}`);
      await session.upload({ bytes: 'time,v\n2020-01-01,1\n2020-01-02,2\n', identifier: 'far.csv' });
      await session.settled();
      await database.query(
        `update node_output set metadata = jsonb_set(metadata, '{description,time,to}', $2::jsonb)
          where node_instance_id = $1`,
        [session.nodeId(1), JSON.stringify(endMs)],
      );
      await session.upload({ bytes: 'time,v\n2021-01-01,1\n2021-01-02,2\n', identifier: 'good.csv' });
      await session.settled();
      // It reads the earlier recordings again.
      await client.call('POST', `/api/v2/node-instance/${session.nodeId(2)}/reprocess`);
      const nodes = await session.settled();
      expect(nodes.map(({ statusDetails }) => statusDetails)).toEqual(['', '', '']);
      const { id, sources } = await session.dashboard();
      expect(sources.map(({ name, time: { from, to } }) => [name, from, to])).toEqual([
        ['far.csv', '2020-01-01T00:00:00.000Z', null],
        ['good.csv', '2021-01-01T00:00:00.000Z', '2021-01-02T00:00:00.000Z'],
      ]);
      await client.call('GET', `/api/v2/dashboard/dimensions/${id}/series`);
      await client.call('GET', `/api/v2/dashboard/dimensions/${id}/statistics`);
    },
  );

  test('a scenario instance is created if configured, over the time of the recordings', async () => {
    const session = await scenarioSession('with-scenario');
    await session.upload({ bytes: realFile('seattle-weather.csv'), identifier: 'weather.csv' });
    await session.settled();
    await session.upload({ bytes: realFile('co2-concentration.csv'), identifier: 'co2.csv' });
    await session.settled();
    expect(await session.scenarios()).toMatchObject([
      { scenarioName: 'Drive', from: '1958-03-01T00:00:00.000Z', to: expect.stringMatching(/^20/) },
    ]);
  });
});
