/**
 * How fast a chart of a long recording comes. Run: `npm run bench:series [-- --rows 10000000 --rounds 40]`.
 *
 * A Parquet file of ten million rows (28 hours at 100 Hz; eight numbers with rare spikes, a truth value, a state) goes
 * through the upload route and the built-in nodes; then series of 2,000 points are asked for, of the whole range and of
 * zooms to random places, and statistics of such ranges. The floor is DuckDB, asked for the least and greatest of each bucket of the uploaded file, on
 * both processors, without the platform. The aim is a p95 under 300 ms for series, and under 100 ms for statistics.
 *
 * Then ten recordings of a tenth of the rows, each with a dashboard, are read as the console overlays them: one channel of
 * each, three requests at a time, whole and in random zooms. The aim is a p95 under 500 ms for all ten.
 */
import { openAsBlob } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { report } from './support/figures.ts';
import { type BenchPlatform, printFigure, printMachine, startBenchPlatform } from './support/platform.ts';
import { createSession, type Dashboard, dashboardOf, shippedTemplate } from './support/sessions.ts';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000000' },
    rounds: { type: 'string', default: '40' },
    floors: { type: 'string', default: '5' },
  },
});
const rows = Number(values.rows);
const rounds = Number(values.rounds);
const stepMs = 10;
const startMs = Date.UTC(2026, 0, 1);
const endMs = startMs + (rows - 1) * stepMs;
const points = 2_000;
const aim = { of: 'p95', most: 300 } as const;

const four = ['speed', 'rpm', 'torque', 'temperature'];
const eight = [...four, 'x', 'y', 'pitch', 'roll'];

/** One kind of question; a zoom shows so much of the recording, each time somewhere else. */
interface Kind {
  readonly name: string;
  readonly channels: readonly string[];
  readonly share: number;
}

const kinds: readonly Kind[] = [
  { name: 'full range, 4 channels', channels: four, share: 1 },
  { name: 'full range, 8 channels', channels: eight, share: 1 },
  { name: 'full range, truth value', channels: ['braking'], share: 1 },
  { name: 'full range, state', channels: ['gear'], share: 1 },
  { name: 'zoom to half, 4 channels', channels: four, share: 0.5 },
  { name: 'zoom to a tenth, 4 channels', channels: four, share: 0.1 },
  { name: 'zoom to a tenth, state', channels: ['gear'], share: 0.1 },
  { name: 'zoom to 2 %, 4 channels', channels: four, share: 0.02 },
  { name: 'zoom to 2 %, 8 channels', channels: eight, share: 0.02 },
  { name: 'zoom to 0.1 %, 4 channels', channels: four, share: 0.001 },
];

const statistics = { of: 'p95', most: 100 } as const;
const statisticsKinds: readonly Kind[] = [
  { name: 'statistics of the full range, 8 channels', channels: eight, share: 1 },
  { name: 'statistics of the full range, states', channels: ['gear', 'braking'], share: 1 },
  { name: 'statistics of a half, 4 channels', channels: four, share: 0.5 },
  { name: 'statistics of a half, all 10 channels', channels: [...eight, 'braking', 'gear'], share: 0.5 },
  { name: 'statistics of 2 %, 8 channels', channels: eight, share: 0.02 },
  { name: 'statistics of 0.1 %, 4 channels', channels: four, share: 0.001 },
];

interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

function rangeOf({ share }: Kind): Range {
  const length = (endMs - startMs) * share;
  const fromMs = Math.floor(startMs + Math.random() * (endMs - startMs - length));
  return { fromMs, toMs: Math.floor(fromMs + length) };
}

const noise = (seed: number) => `(hash(i + ${seed * 1_000_003}) % 10000) / 10000.0`;

async function writeRecording(
  path: string,
  connection: DuckDBConnection,
  count = rows,
  first = 0,
): Promise<void> {
  const wave = (period: number, height: number, seed: number) =>
    `round(${height} * sin(i / ${period}.0) + ${height / 10} * ${noise(seed)}, 3)`;
  const spike = `CASE WHEN hash(i) % 1000003 = 7 THEN 10000.0 ELSE ${wave(1_000, 30, 1)} END`;
  await connection.run(
    `COPY (SELECT make_timestamp_ms(${startMs} + (i - ${first}) * ${stepMs}) AS time, ${spike} AS speed,
        800 + CAST(hash(i // 100) % 6000 AS DOUBLE) AS rpm, ${wave(3_000, 120, 2)} AS torque,
        ${wave(90_000, 60, 3)} AS temperature, i / 10.0 AS x, -i / 10.0 AS y, ${wave(700, 1, 4)} AS pitch,
        ${wave(500, 1, 5)} AS roll, hash(i // 300) % 5 = 0 AS braking,
        'gear ' || (hash(i // 500) % 6) AS gear
      FROM range(${first}, ${first + count}) r(i)) TO '${path}' (FORMAT parquet, COMPRESSION zstd)`,
  );
}

async function upload(platform: BenchPlatform, path: string, count = rows): Promise<Dashboard> {
  const session = await createSession(
    platform.client,
    await shippedTemplate(platform.client),
    'tabular-upload',
  );
  const { size } = await stat(path);
  const startedAt = performance.now();
  const answer = await fetch(
    `http://127.0.0.1:${platform.port}/api/v2/node-instance/${session.inputId}/outputs/data`,
    {
      method: 'POST',
      headers: {
        authorization: `Bearer ${platform.token}`,
        'content-type': 'application/vnd.apache.parquet',
      },
      body: await openAsBlob(path),
    },
  );
  if (answer.status !== 201) throw new Error(`upload: ${answer.status} ${await answer.text()}`);
  const dashboard = await dashboardOf(platform.client, session.id, 900);
  const seconds = (performance.now() - startedAt) / 1_000;
  const name = `Parquet of ${count} rows (${Math.round(size / 1024 ** 2)} MB): upload to dashboard`;
  console.log(`${name.padEnd(58)} ${seconds.toFixed(1)} s`);
  report({ name, unit: 's', values: [seconds] });
  return dashboard;
}

/** The query of a question: its channels and a range, each time another. */
function queryOf(dashboard: Dashboard, kind: Kind, range = rangeOf(kind)): string {
  const keys = kind.channels.map((name) => {
    const channel = dashboard.channels.find((each) => each.name === name);
    if (channel === undefined) throw new Error(`The dashboard has no channel ${name}.`);
    return encodeURIComponent(channel.key);
  });
  const { fromMs, toMs } = range;
  const bounds =
    kind.share === 1 ? '' : `&from=${new Date(fromMs).toISOString()}&to=${new Date(toMs).toISOString()}`;
  return `channels=${keys.join(',')}${bounds}`;
}

async function ask(
  { client }: BenchPlatform,
  dashboard: Dashboard,
  kind: Kind,
  range?: Range,
): Promise<number> {
  const query = queryOf(dashboard, kind, range);
  const startedAt = performance.now();
  const { series } = await client.expect<{ series: ReadonlyArray<{ readonly times: readonly number[] }> }>(
    200,
    'GET',
    `${dashboard.path}/series?${query}&maxPoints=${points}`,
  );
  const tookMs = performance.now() - startedAt;
  if (series.some(({ times }) => times.length < 2 || times.length > points))
    throw new Error(`${kind.name}: ${series.map(({ times }) => times.length).join(', ')} points`);
  return tookMs;
}

async function askStatistics({ client }: BenchPlatform, dashboard: Dashboard, kind: Kind): Promise<number> {
  const query = queryOf(dashboard, kind);
  const startedAt = performance.now();
  const found = await client.expect<{ statistics: ReadonlyArray<{ readonly count: number }> }>(
    200,
    'GET',
    `${dashboard.path}/statistics?${query}`,
  );
  const tookMs = performance.now() - startedAt;
  if (found.statistics.some(({ count }) => count < (rows - 1) * kind.share * 0.99))
    throw new Error(`${kind.name}: ${found.statistics.map(({ count }) => count).join(', ')} values`);
  return tookMs;
}

const overlaid = 10;
const requestsAtOnce = 3;
const overlays: readonly Kind[] = [
  { name: 'ten recordings overlaid, full range', channels: ['speed'], share: 1 },
  { name: 'ten recordings overlaid, zoom to a tenth', channels: ['speed'], share: 0.1 },
  { name: 'ten recordings overlaid, zoom to 2 %', channels: ['speed'], share: 0.02 },
];

/** One window of all recordings at once; each has a tenth of the rows. */
async function askAll(
  platform: BenchPlatform,
  dashboards: readonly Dashboard[],
  kind: Kind,
): Promise<number> {
  const length = (endMs - startMs) / overlaid;
  const fromMs = Math.floor(startMs + Math.random() * length * (1 - kind.share));
  const range = { fromMs, toMs: Math.floor(fromMs + length * kind.share) };
  const waiting = [...dashboards];
  const startedAt = performance.now();
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      await ask(platform, next, kind, range);
  };
  await Promise.all(Array.from({ length: requestsAtOnce }, work));
  return performance.now() - startedAt;
}

async function measureOverlays(platform: BenchPlatform, folder: string, connection: DuckDBConnection) {
  const dashboards: Dashboard[] = [];
  for (let index = 0; index < overlaid; index++) {
    const path = join(folder, `stint-${index}.parquet`);
    await writeRecording(path, connection, rows / overlaid, (rows / overlaid) * index);
    dashboards.push(await upload(platform, path, rows / overlaid));
  }
  printFigure('first series of ten recordings', [await askAll(platform, dashboards, overlays[0]!)]);
  for (const kind of overlays) {
    await times(2, () => askAll(platform, dashboards, kind));
    const took = await times(rounds, () => askAll(platform, dashboards, kind));
    printFigure(kind.name, took, { aim: { of: 'p95', most: 500 } });
  }
}

async function times(count: number, work: () => Promise<number>): Promise<number[]> {
  const took: number[] = [];
  for (let round = 0; round < count; round++) took.push(await work());
  return took;
}

/** Least and greatest of each bucket, straight from the uploaded file. */
async function straight(connection: DuckDBConnection, path: string, kind: Kind): Promise<number> {
  const { fromMs, toMs } = rangeOf(kind);
  const width = Math.max(1, ((toMs - fromMs) / points) * 2);
  const startedAt = performance.now();
  await connection.runAndReadAll(
    `SELECT CAST((epoch_ms(time) - ${fromMs}) // ${width} AS INTEGER) AS bucket,
        ${kind.channels.map((name) => `min(${name}), max(${name})`).join(', ')}
       FROM read_parquet('${path}')
      WHERE time >= make_timestamp_ms(${fromMs}) AND time <= make_timestamp_ms(${toMs}) GROUP BY bucket`,
  );
  return performance.now() - startedAt;
}

printMachine();
const folder = await mkdtemp(join(tmpdir(), 'sdp-bench-'));
const path = join(folder, 'recording.parquet');
const duckdb = await DuckDBInstance.create(':memory:', { threads: '2', memory_limit: '1GiB' });
const connection = await duckdb.connect();
try {
  await writeRecording(path, connection);
  const platform = await startBenchPlatform();
  try {
    const dashboard = await upload(platform, path);
    // The API has no copy of the recording yet.
    printFigure('first series of the recording', [await ask(platform, dashboard, kinds[0]!)]);
    for (const kind of kinds) {
      await times(2, () => ask(platform, dashboard, kind));
      const took = await times(rounds, () => ask(platform, dashboard, kind));
      const floor = await times(Number(values.floors), () => straight(connection, path, kind));
      printFigure(kind.name, took, { aim, floor: { name: 'DuckDB over the file', values: floor } });
    }
    for (const kind of statisticsKinds) {
      await times(2, () => askStatistics(platform, dashboard, kind));
      const took = await times(rounds, () => askStatistics(platform, dashboard, kind));
      printFigure(kind.name, took, { aim: statistics });
    }
    const callers = await Promise.all(
      Array.from({ length: 8 }, () => times(rounds / 4, () => ask(platform, dashboard, kinds.at(-3)!))),
    );
    printFigure(`${kinds.at(-3)!.name}, 8 callers at once`, callers.flat());
    await measureOverlays(platform, folder, connection);
  } finally {
    await platform.stop();
  }
} finally {
  connection.closeSync();
  duckdb.closeSync();
  await rm(folder, { recursive: true, force: true });
}
