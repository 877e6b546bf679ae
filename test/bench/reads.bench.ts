/**
 * What each GET route takes beside much work of the past. Run: `npm run bench:reads`.
 *
 * 100,000 sessions, 1,000,000 ended runs with their attempts, claims and outputs (SESSIONS, RUNS), and 5,000 queued runs.
 * Every GET route of the OpenAPI document is called five times, with ids of the newest run; lists of runs once for each
 * state too. The aim is a median within 100 ms. Prints the slowest; the table has those above 50 ms and the slowest of all.
 */
import { runStates } from '../../api/node-runs/schema.ts';
import { seedEndedRuns } from './support/ended-runs.ts';
import { quantile, report } from './support/figures.ts';
import { importTemplate, register } from './support/outside-runner.ts';
import {
  type BenchClient,
  type BenchPlatform,
  printMachine,
  startBenchPlatform,
} from './support/platform.ts';
import { queueRuns } from './support/queued-runs.ts';
import { openForSeeding, seedSessionsInto } from './support/seeded-sessions.ts';

const sessions = Number(process.env.SESSIONS ?? 100_000);
const runs = Number(process.env.RUNS ?? 1_000_000);
const queued = { sessions: 1_000, eachSession: 5 };
const rounds = 5;
const aimMs = 100;
const shownMs = 50;
const printed = 25;
/** They last for as long as their reader stays. */
const streams = /\/events$|\/follow$/;

interface Measured {
  readonly path: string;
  readonly ms: readonly number[];
}

async function fill(platform: BenchPlatform): Promise<void> {
  const { client } = platform;
  const database = await openForSeeding(platform);
  try {
    await seedSessionsInto(database, sessions);
    await seedEndedRuns(database, runs);
    await register(client, 'queued-node');
    const template = await importTemplate(client, 'queued-node', queued.eachSession, 1);
    const project = await client.expect<{ id: number }>(201, 'POST', '/projects', { Title: 'Bench' });
    await queueRuns(database, {
      sessions: queued.sessions,
      templateId: template.id,
      projectId: project.id,
      spreadSeconds: 60,
    });
  } finally {
    await database.close();
  }
}

/** The GET routes with ids of the newest run, and each list of runs for each of its states. */
async function pathsOf(client: BenchClient): Promise<string[]> {
  const { paths } = await client.expect<{ paths: Record<string, { readonly get?: object }> }>(
    200,
    'GET',
    '/api/v2/openapi.json',
  );
  const { nodeRuns } = await client.expect<{ nodeRuns: Record<string, string | number>[] }>(
    200,
    'GET',
    '/api/v2/node-runs?pageSize=1',
  );
  const { id: runId, ...run } = nodeRuns[0]!;
  const ids: Record<string, string | number | undefined> = { ...run, runId };
  const gets = Object.keys(paths).filter((path) => paths[path]?.get !== undefined && !streams.test(path));
  const plain = gets.map((path) => path.replace(/\{(\w+)\}/g, (_, name: string) => String(ids[name] ?? 1)));
  const lists = ['/api/v2/node-runs', '/api/v2/admin/node-runs'];
  return [...plain, ...lists.flatMap((list) => runStates.map((state) => `${list}?state=${state}`))];
}

/** @returns undefined for what is refused: there is no such thing here */
async function measure(client: BenchClient, path: string): Promise<Measured | undefined> {
  const ms: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const startedAt = performance.now();
    const { status } = await client.call('GET', path);
    if (status >= 500) throw new Error(`GET ${path}: ${status}`);
    if (status !== 200) return undefined;
    ms.push(performance.now() - startedAt);
  }
  return { path, ms };
}

printMachine();
const platform = await startBenchPlatform();
try {
  await fill(platform);
  const measured: Measured[] = [];
  for (const path of await pathsOf(platform.client)) {
    const found = await measure(platform.client, path);
    if (found !== undefined) measured.push(found);
  }
  measured.sort((a, b) => quantile(b.ms, 0.5) - quantile(a.ms, 0.5));
  console.log(`${measured.length} reads, the slowest first: median and slowest of ${rounds}`);
  for (const [place, { path, ms }] of measured.entries()) {
    const [median, slowest] = [quantile(ms, 0.5), quantile(ms, 1)];
    if (place < printed)
      console.log(`${median.toFixed(1).padStart(8)} ms ${slowest.toFixed(1).padStart(8)} ms  ${path}`);
    if (place === 0 || median > shownMs)
      report({ name: `GET ${path}`, unit: 'ms', values: ms, aim: { of: 'median', most: aimMs } });
  }
} finally {
  await platform.stop();
}
