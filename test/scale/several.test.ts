/** Two of every process, each stopped and started again under load. */
import { afterAll, expect, test } from 'vitest';
import { Database } from '../../store/connection/database.ts';
import { RecordingClient } from '../activities/recording-session.ts';
import { outsideChain } from '../faults/http-runner.ts';
import { isQuiet, wrongFacts } from '../faults/soak/soak-checks.ts';
import { eventually } from '../support/eventually.ts';
import { type ApiProcess, type TestProcess, testProcesses } from '../support/processes.ts';
import { testEnvironment } from '../support/stack.ts';
import { startBalancer } from './balancer.ts';
import { expectNothingLost, unreported } from './judge.ts';
import { Load } from './load.ts';

const platform = await testEnvironment();
const processes = testProcesses(platform.environment);
const balancer = await startBalancer();
const database = await Database.open({ databaseUrl: platform.databaseUrl, poolSize: 2 });
afterAll(async () => {
  await balancer.close();
  await database.close();
});

// Longer than the balancer takes to see that an API stops, also where the machine pauses for a while.
const variables = { SHUTDOWN_DELAY_SECONDS: '5', DATABASE_POOL_SIZE: '8', LOG_LEVEL: 'warn' };

async function startApi(): Promise<ApiProcess> {
  const api = await processes.startApi({ variables: { ...variables, LOG_LEVEL: 'info' } });
  balancer.add(api.url);
  await eventually('the balancer knows the API', () => balancer.ready.includes(api.url));
  return api;
}

async function stop(process: TestProcess): Promise<void> {
  process.kill('SIGTERM');
  expect(await process.ended, process.log().slice(-2_000)).toBe(0);
}

test('2 APIs, 2 workers and 2 workers of built-in nodes are stopped one after another under load: no request fails, no run is lost', async () => {
  const start = {
    api: startApi,
    worker: () => processes.startWorker('workflows'),
    builtin: () => processes.startWorker('builtin'),
  };
  const kinds = ['api', 'worker', 'builtin'] as const;
  const first = await Promise.all([...kinds, ...kinds].map((kind) => start[kind]()));
  const client = await RecordingClient.signIn(balancer.url, platform.administrator);
  const recordings = [await client.newSession(), await client.newSession()];
  const chains = [await outsideChain(database, 2), await outsideChain(database, 2)];
  const load = new Load({
    url: balancer.url,
    token: client.token,
    // Built-in nodes read all their inputs at each run, so they get few.
    graphs: recordings.flatMap(({ id, nodes }) => [
      { sessionId: id, inputNodeId: nodes[0]!.id },
      ...[...chains, ...chains, ...chains].map((chain) => ({
        sessionId: chain.sessionId,
        inputNodeId: chain.nodes.input!,
      })),
    ]),
    templates: chains.map(({ template }) => template),
    runners: 3,
    followed: [recordings[0]!.id, chains[0]!.sessionId],
  });
  const underLoad = async () => {
    const before = load.answered;
    await eventually('callers are served', () => load.answered >= before + 20);
  };
  await underLoad();
  const again: Promise<TestProcess>[] = [];
  for (const [index, process] of first.entries()) {
    // The other one of its kind must be there.
    if (index >= kinds.length) await again[index - kinds.length];
    await stop(process);
    const started = start[kinds[index % kinds.length]!]();
    // Reported where it is awaited.
    started.catch(() => {});
    again.push(started);
    await underLoad();
  }
  await Promise.all(again);
  load.stopUploads();
  await eventually('all is worked on', () => isQuiet(database)).catch(async (error: Error) => {
    throw new Error(
      `${error.message}: ${JSON.stringify([load.failures, await wrongFacts(database, false)])}`,
    );
  });
  // The last publications are reported a moment after their runs are done.
  await eventually(
    'live events report every output',
    async () => (await unreported(database, load.reported)).length === 0,
  );
  const result = await load.stop();
  expect(result.failures).toEqual([]);
  expect(await wrongFacts(database, false)).toEqual([]);
  await expectNothingLost(database, result);
});
