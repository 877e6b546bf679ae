/**
 * The services of docker-compose.yml as plain processes, in their numbers, behind the proxy's own program and on
 * Temporal's own server with PostgreSQL: from an empty folder to a graph that ends, and through a rolling restart.
 */
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { checkout } from '../../local/settings.ts';
import { Database } from '../../store/connection/database.ts';
import { RecordingClient } from '../activities/recording-session.ts';
import { outsideChain } from '../faults/http-runner.ts';
import { isQuiet, wrongFacts } from '../faults/soak/soak-checks.ts';
import { expectNothingLost } from '../scale/judge.ts';
import { Load } from '../scale/load.ts';
import { eventually } from '../support/eventually.ts';
import { fillRunnersFolder, publishDeployed } from './deployed.ts';
import { initDatabase, type Place, planOf, preparePlace, putSecretsInPlace, Running } from './local.ts';
import { portOf } from './ports.ts';
import { loadProject, startOrder } from './project.ts';
import { type Scraped, scrape, scrapeJobs } from './scraping.ts';

/** As `--scale api=2 --scale worker=3` and so on makes them. */
const replicas: Readonly<Record<string, number>> = {
  api: 2,
  worker: 3,
  'builtin-worker': 2,
  'runner-host': 2,
};
const startLimitMs = 120_000;

const project = loadProject();
const folder = mkdtempSync(join(tmpdir(), 'sdp-containers-'));
const running = new Map<string, Running>();
afterAll(async () => {
  for (const container of running.values()) container.kill('SIGKILL');
  await Promise.allSettled([...running.values()].map(({ ended }) => ended));
  rmSync(folder, { recursive: true, force: true });
});

/** The rows of a report, and as whom the platform has read it. */
async function downloadedReport(client: RecordingClient): Promise<{ rows: string[]; readers: string[] }> {
  const path = '/api/v2/dashboard/reports';
  const column = { columnKey: 'dimension', name: 'Dimension', expression: 'dimension.name' };
  await client.call('POST', path, { key: 'names', name: 'Names', columns: [column] });
  const answer = await fetch(`${client.url}${path}/download?report=names&format=csv`, {
    headers: { authorization: `Bearer ${client.token}` },
  });
  expect(answer.status).toBe(200);
  const rows = (await answer.text()).trim().split(/\r?\n/);
  const superuser = new pg.Client(readFileSync(join(folder, 'secrets/postgres_url'), 'utf8').trim());
  await superuser.connect();
  const asked = "select distinct usename as name from pg_stat_activity where application_name = 'reports'";
  const readers = await superuser.query<{ name: string }>(asked);
  await superuser.end();
  return { rows, readers: readers.rows.map(({ name }) => name) };
}

/** Every container asked for its metrics as the included configuration of Prometheus asks. By service. */
async function scrapedAll(place: Place): Promise<Readonly<Record<string, readonly Scraped[]>>> {
  const all: Record<string, Scraped[]> = {};
  for (const { authorization, dns_sd_configs } of scrapeJobs()) {
    const credentials = authorization?.credentials_file.replace('/run/secrets', join(folder, 'secrets'));
    for (const name of dns_sd_configs.flatMap(({ names }) => names)) {
      const numbers = Array.from({ length: replicas[name]! }, (_, at) => at + 1);
      all[name] = await Promise.all(
        numbers.map((replica) => scrape(portOf(place.ports, name, replica), credentials)),
      );
    }
  }
  return all;
}

/** The scraper can read metrics, and those of the API require its token. */
async function expectMetrics(place: Place): Promise<void> {
  const all = await scrapedAll(place);
  const processes = Object.entries(all).flatMap(([name, answers]) =>
    answers.map(({ status, text }) => [name, status, /sdp_process_info\{process="([^"]+)"/.exec(text)?.[1]]),
  );
  const expected = [
    ...Array(2).fill(['api', 200, 'api']),
    ...Array(3).fill(['worker', 200, 'worker']),
    ...Array(2).fill(['builtin-worker', 200, 'worker-builtin']),
    ...Array(2).fill(['runner-host', 200, 'runner-host']),
  ];
  expect(processes).toEqual(expected);
  for (const { text } of all.api!) expect(text).toMatch(/^sdp_part_up\{part="temporal"\} 1$/m);
  for (const { text } of all.worker!) expect(text).toMatch(/^temporal_worker_task_slots_available\{/m);
  expect((await scrape(portOf(place.ports, 'api', 1))).status).toBe(401);
  const ofAnother = join(folder, 'secrets/participant_key');
  expect((await scrape(place.ports.proxy, ofAnother)).status).toBe(401);
}

/** Health checks of services whose own check needs their image. */
function isThere(place: Place, name: string): Promise<boolean> {
  const answers = async (url: string) => (await fetch(url, { signal: AbortSignal.timeout(2_000) })).ok;
  switch (name) {
    case 'postgres':
      return askPostgres(readFileSync(join(folder, 'secrets/postgres_url'), 'utf8').trim());
    case 's3':
      return answers(`http://127.0.0.1:${place.ports.s3}/health`);
    case 'temporal':
      return answers(`http://127.0.0.1:${place.ports.http}/api/v1/system-info`);
    case 'proxy':
      return answers(`http://127.0.0.1:${place.ports.proxy}/health_check`);
    default:
      throw new Error(`${name} has a check of its own.`);
  }
}

async function askPostgres(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2_000 });
  await client.connect();
  await client.end();
  return true;
}

async function start(place: Place, name: string, replica: number): Promise<void> {
  const plan = planOf(project, place, name, replica);
  if (name === 'postgres') initDatabase(place, plan);
  const container = new Running(plan);
  running.set(`${name}-${replica}`, container);
  const explained = (what: string) => `${name} ${what}:\n${container.log.slice(-4_000)}`;
  if (project.services[name]!.restart.startsWith('on-failure')) {
    expect(await container.ended, explained('ended')).toBe(0);
    return;
  }
  const { healthcheck, environment } = plan;
  await eventually(
    `${name} is healthy`,
    async () => {
      if (container.isOver) return 'over';
      if (healthcheck === undefined) return await isThere(place, name).catch(() => false);
      const [program, ...args] = healthcheck;
      await promisify(execFile)(program!, args, { cwd: checkout, env: environment });
      return true;
    },
    startLimitMs,
  ).then(
    (seen) => {
      if (seen === 'over') throw new Error(explained('ended'));
    },
    (error: Error) => {
      throw new Error(`${error.message}\n${explained('says')}`);
    },
  );
}

async function stop(name: string, replica: number): Promise<void> {
  const container = running.get(`${name}-${replica}`)!;
  container.kill((project.services[name]!.stop_signal ?? 'SIGTERM') as NodeJS.Signals);
  expect(await container.ended, `${name}:\n${container.log.slice(-2_000)}`).toBe(0);
}

test('they come up on an empty machine, end a graph, are restarted one after another under load, and stop', async () => {
  chmodSync(folder, 0o755);
  execFileSync('sh', [join(checkout, 'ops/compose/first-run.sh'), join(folder, 'secrets')], {
    stdio: 'pipe',
  });
  const place = await preparePlace(folder, project);
  putSecretsInPlace(place);
  for (const name of ['objects', 'metadata']) mkdirSync(join(folder, name));
  fillRunnersFolder(join(folder, 'runners'));
  // As the image is built.
  execFileSync(process.execPath, ['worker/write-bundle.ts', join(folder, 'workflow-bundle')], {
    cwd: checkout,
  });
  const order = startOrder(project).filter((name) => name !== 'temporal-ui');
  for (const name of order) {
    const numbers = Array.from({ length: replicas[name] ?? 1 }, (_, at) => at + 1);
    await Promise.all(numbers.map((replica) => start(place, name, replica)));
  }
  const url = `http://127.0.0.1:${place.ports.proxy}`;
  const password = readFileSync(join(folder, 'secrets/admin_password'), 'utf8').trim();
  const client = await RecordingClient.signIn(url, { username: 'admin', password });
  const recording = await client.newSession();
  await recording.upload({ identifier: 'lap-1.csv', bytes: 'time,speed\n0,1\n1,2\n' });
  expect((await recording.settled(60_000)).map(({ state }) => state)).toEqual([
    'Succeeded',
    'Succeeded',
    'Succeeded',
  ]);
  expect((await recording.dashboard()).sources).toMatchObject([{ name: 'lap-1.csv', rowCount: 2 }]);

  const { rows, readers } = await downloadedReport(client);
  expect([rows.length, readers]).toEqual([2, ['sdp_report']]);

  const deployed = await publishDeployed(client);
  expect(await deployed.work('before the restarts')).toEqual({
    text: 'before the restarts',
    uid: planOf(project, place, 'runner-host', 1).uid,
    folder: join(folder, 'runners'),
    url: `http://127.0.0.1:${place.ports.proxyInside}`,
    variables: ['SDP_RUNNER_TOKEN', 'SDP_URL', 'TMPDIR'],
  });

  await expectMetrics(place);

  const databaseUrl = readFileSync(join(folder, 'secrets/owner_database_url'), 'utf8').trim();
  const database = await Database.open({ databaseUrl, poolSize: 2 });
  try {
    const chains = [await outsideChain(database, 2), await outsideChain(database, 2)];
    const load = new Load({
      url,
      token: client.token,
      graphs: [
        { sessionId: recording.id, inputNodeId: recording.nodeId(0) },
        ...[...chains, ...chains, ...chains].map(({ sessionId, nodes }) => ({
          sessionId,
          inputNodeId: nodes.input!,
        })),
      ],
      templates: chains.map(({ template }) => template),
      runners: 3,
      followed: chains.map(({ sessionId }) => sessionId),
    });
    const underLoad = async () => {
      const before = load.answered;
      await eventually('callers are served', () => load.answered >= before + 20, 60_000);
    };
    await underLoad();
    for (const [name, count] of Object.entries(replicas)) {
      for (let replica = 1; replica <= count; replica++) {
        await stop(name, replica);
        await start(place, name, replica);
        await underLoad();
      }
    }
    expect(await deployed.work('after the restarts')).toMatchObject({ text: 'after the restarts' });
    // Reports of hosts arrive a little late.
    await eventually('one host keeps the runner', async () => {
      const processes = await deployed.processes();
      return processes.length === 1 && processes[0]?.state === 'running';
    });
    load.stopUploads();
    await eventually('all is worked on', () => isQuiet(database), 90_000);
    const result = await load.stop();
    expect(result.failures).toEqual([]);
    expect(await wrongFacts(database, false)).toEqual([]);
    await expectNothingLost(database, result);
  } finally {
    await database.close();
  }
  for (const name of order.reverse()) {
    if (project.services[name]!.restart.startsWith('on-failure')) continue;
    const numbers = Array.from({ length: replicas[name] ?? 1 }, (_, at) => at + 1);
    await Promise.all(numbers.map((replica) => stop(name, replica)));
  }
});
