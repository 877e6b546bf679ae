/** Processes that stall and continue: their locks do not block other processes for long, and no lease is lost. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Database, Tx } from '../../../store/connection/database.ts';
import { endOverdueClaims, recordProcessHeartbeat } from '../../../store/runs/expire-leases.ts';
import { tokenOf } from '../../support/api.ts';
import { databaseStage } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';
import { chain, claim, type Graph, makeGraph, upload } from '../../support/graph.ts';
import { testProcesses } from '../../support/processes.ts';
import { stretched } from '../../support/stretched.ts';
import { HttpRunner, outsideChain } from '../http-runner.ts';

const { database, platform } = await databaseStage(4);
const processes = testProcesses(platform.environment);

/** A graph whose first node was held; the lease ended at the given time. */
async function overdueGraph(seconds: number): Promise<Graph> {
  const graph = await makeGraph(database, chain(1));
  await upload(database, graph, 'input');
  const task = await claim(database, { holder: 'user:someone', instanceId: randomUUID() });
  await database.query(
    `update node_claim set lease_until = clock_timestamp() - make_interval(secs => $2) where task_id = $1`,
    [task!.taskId, seconds],
  );
  return graph;
}

async function runState(graph: Graph): Promise<string> {
  const [run] = await database.query<{ state: string }>('select state from node_run where session_id = $1', [
    graph.sessionId,
  ]);
  return run!.state;
}

test('a process that stalls inside a transaction does not keep leases of other sessions from expiring', async () => {
  await recordProcessHeartbeat(database, randomUUID());
  const locked = await overdueGraph(20);
  const others = await Promise.all([overdueGraph(10), overdueGraph(10)]);
  await database.transaction(async (tx) => {
    await tx.query('select 1 from session where id = $1 for no key update', [locked.sessionId]);
    const startedAt = performance.now();
    const ended = await endOverdueClaims(database, 100, () => 0);
    expect(ended.map(({ sessionId }) => sessionId).sort()).toEqual(
      others.map(({ sessionId }) => sessionId).sort(),
    );
    expect(performance.now() - startedAt).toBeLessThan(stretched(2_000));
  });
  expect(await Promise.all(others.map(runState))).toEqual(['queued', 'queued']);
  expect(await runState(locked)).toBe('held');
  await endOverdueClaims(database, 100, () => 0);
  expect(await runState(locked)).toBe('queued');
});

test('a process that stalls during its heartbeat does not block the heartbeats of others for long', async () => {
  const reported = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const standsStill = database.transaction(async (tx) => {
    const inside = { transaction: (work: (inner: Tx) => Promise<number>) => work(tx) };
    await recordProcessHeartbeat(inside as unknown as Database, randomUUID());
    reported.resolve();
    await goOn.promise;
  });
  standsStill.catch(() => {});
  await reported.promise;
  const startedAt = performance.now();
  try {
    await recordProcessHeartbeat(database, randomUUID());
    expect(performance.now() - startedAt).toBeLessThan(stretched(5_000));
  } finally {
    goOn.resolve();
  }
  await expect(standsStill).rejects.toThrow();
});

test('when the only server stalled past a lease, the first call of each holder is answered as before', async () => {
  const api = await processes.startApi();
  const { username, password } = platform.administrator;
  const token = await tokenOf(api.url, username, password);
  const holders = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const graph = await outsideChain(database, 1);
      await upload(database, graph, 'input');
      const runner = new HttpRunner(api.url, token);
      return { runner, task: await runner.acquire(graph.template) };
    }),
  );
  // Not before: on a busy machine the claims of all may take longer.
  await database.query('update node_claim set lease_seconds = 8 where ended_at is null');
  const renewed = await Promise.all(holders.map(({ runner, task }) => runner.heartbeat(task)));
  expect(renewed.map(({ status }) => status)).toEqual(renewed.map(() => 200));
  api.kill('SIGSTOP');
  const stoppedAt = performance.now();
  const heartbeats = holders.map(({ runner, task }) => runner.heartbeat(task));
  // Longer than the lease, and than the gap after which no server counts as up.
  await eventually('time passes', () => performance.now() - stoppedAt > 10_500);
  api.kill('SIGCONT');
  const answers = await Promise.all(heartbeats);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
});
