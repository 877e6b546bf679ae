/** Servers that stop, return or lose their data: work that does not need them continues, the rest when they are back. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { RecordingSession } from '../../activities/recording-session.ts';
import { eventually } from '../../support/eventually.ts';
import { stretched } from '../../support/stretched.ts';
import { faultWorld } from '../fault-world.ts';
import { type HeldTask, HttpRunner, outsideChain } from '../http-runner.ts';
import { expectNothingOpen, expectOnceEach, factsOf, graphEnds } from '../soak/graph-facts.ts';

const { platform, temporal, database, api, client } = await faultWorld({ ownStack: true });
const { postgres, temporal: temporalServer } = platform.stack!;
beforeAll(async () => {
  await temporal.startWorker('all');
});

const newRunner = () => new HttpRunner(api.url, client.token);
const csv = 'time,speed\n0,1\n1,2\n';

/** A graph whose first node is held. */
async function heldGraph(leaseSeconds?: number) {
  const graph = await outsideChain(database, 2, leaseSeconds === undefined ? {} : { leaseSeconds });
  const runner = newRunner();
  await runner.upload(graph.nodes.input!, 'one');
  return { graph, runner, task: await runner.acquire(graph.template) };
}

async function states(session: RecordingSession): Promise<string[]> {
  return (await session.progress()).map(({ state }) => state);
}

/** Ends waits for a time, as if the given time had passed. */
async function timePasses(seconds: number): Promise<void> {
  await database.query(
    `update node_run set queue_time = queue_time - make_interval(secs => $1) where state <> 'done'`,
    [seconds],
  );
  await database.query(
    'update session set checked_at = checked_at - make_interval(secs => $1), healed_at = healed_at - make_interval(secs => $1)',
    [seconds],
  );
}

/** Shorter than a call that waits for Temporal, and longer than a busy machine needs. */
const answerMs = 10_000;

async function within<T>(limitMs: number, call: Promise<T>): Promise<T> {
  const startedMs = performance.now();
  const result = await call;
  expect(performance.now() - startedMs).toBeLessThan(stretched(limitMs));
  return result;
}

describe('Temporal is stopped', () => {
  test('uploads, reads, claims, heartbeats and outcomes answer, graphs of outside runners end, the rest follows later', async () => {
    const held = await heldGraph();
    const session = await client.newSession();
    await temporalServer!.stop();
    try {
      await wholeGraphWithout(held);
      await within(answerMs, session.upload({ identifier: 'one.csv', bytes: csv }));
      const retried = await heldGraph();
      const failed = await within(answerMs, retried.runner.fail(retried.task, 'No luck.'));
      expect(failed).toMatchObject({ status: 200, body: { willRetry: true } });
      expect(await states(session)).toEqual(['Succeeded', 'Pending', 'NeverBegan']);
      await temporalServer!.start();
      expect((await session.settled()).map(({ state }) => state)).toEqual(Array(3).fill('Succeeded'));
      await expectOnceEach(database, session.id);
      const again = await retried.runner.acquire(retried.graph.template);
      expect(again).toMatchObject({ runId: retried.task.runId, attempt: 2 });
      await retried.runner.finish(again);
      await retried.runner.work(retried.graph.template);
      await graphEnds(database, retried.graph.sessionId, 3);
      for (const { sessionId } of [held.graph, retried.graph, { sessionId: session.id }])
        await eventually(
          'the workflow ends',
          async () => (await temporal.statusOf(sessionId)) === 'COMPLETED',
        );
    } finally {
      await temporalServer!.start();
    }
  });

  /** Every call of a runner while there is no Temporal, for a task held before and a graph that begins now. */
  async function wholeGraphWithout(held: Awaited<ReturnType<typeof heldGraph>>): Promise<void> {
    expect((await within(answerMs, held.runner.heartbeat(held.task))).status).toBe(200);
    await within(answerMs, held.runner.finish(held.task));
    await within(answerMs, held.runner.work(held.graph.template));
    await expectOnceEach(database, held.graph.sessionId);
    const { graph, runner, task } = await heldGraph();
    expect((await within(answerMs, runner.heartbeat(task))).status).toBe(200);
    await runner.finish(task);
    await within(answerMs, runner.work(graph.template));
    await expectOnceEach(database, graph.sessionId);
    const output = await within(
      answerMs,
      client.call('GET', `/api/v2/node-instance/${graph.nodes.n2}/outputs/latest/data`),
    );
    expect(output).toContain('output of n2');
  }
});

describe('Temporal loses all its data', () => {
  test('every graph ends: held, waiting for a retry, and of built-in nodes', async () => {
    const held = await heldGraph();
    const retried = await heldGraph();
    await retried.runner.fail(retried.task, 'No luck.');
    const builtin = await client.newSession();
    await temporalServer!.stop();
    await builtin.upload({ identifier: 'one.csv', bytes: csv });
    await temporalServer!.wipe();
    await timePasses(60);
    await held.runner.finish(held.task);
    await held.runner.work(held.graph.template);
    const again = await retried.runner.acquire(retried.graph.template);
    expect(again.attempt).toBe(2);
    await retried.runner.finish(again);
    await retried.runner.work(retried.graph.template);
    expect((await builtin.settled()).map(({ state }) => state)).toEqual(Array(3).fill('Succeeded'));
    for (const sessionId of [held.graph.sessionId, retried.graph.sessionId, builtin.id]) {
      await graphEnds(database, sessionId, 3);
      await expectOnceEach(database, sessionId);
      await eventually('the workflow ends', async () => (await temporal.statusOf(sessionId)) === 'COMPLETED');
    }
  });
});

describe('PostgreSQL is stopped for longer than a lease', () => {
  test('no valid lease is lost, and all work continues', async () => {
    const { graph, runner, task } = await heldGraph(10);
    const session = await client.newSession();
    const keepLease = async () => expect((await runner.heartbeat(task)).status).toBe(200);
    let uploads = 0;
    // Each check adds a file: the run may end all others between two checks. The run may begin later than a lease is long.
    await eventually('the built-in run is in its middle', async () => {
      await keepLease();
      await session.upload({ identifier: `${uploads++}.csv`, bytes: csv });
      const [, recordings] = await factsOf(database, session.id);
      return recordings!.outputs > 0 && recordings!.outputs < uploads;
    });
    await keepLease();
    await postgres!.stop();
    try {
      const stoppedMs = performance.now();
      await refusedInTime(runner, task);
      await eventually('the lease would be over', () => performance.now() - stoppedMs > 12_000);
    } finally {
      await postgres!.start();
    }
    await eventually('the platform answers', async () => (await runner.heartbeat(task)).status === 200);
    await runner.finish(task);
    await runner.work(graph.template);
    await graphEnds(database, graph.sessionId, 3);
    await expectOnceEach(database, graph.sessionId);
    await session.settled();
    const facts = await factsOf(database, session.id);
    expect(facts[1]).toMatchObject({ outputs: uploads });
    await expectNothingOpen(database, session.id);
    const lost = await database.query(`select 1 from node_claim where ending = 'lost'`);
    expect(lost).toEqual([]);
    // That the database was away uses up no attempt either.
    const again = await database.query('select 1 from node_run where session_id = $1 and attempt > 1', [
      session.id,
    ]);
    expect(again).toEqual([]);
  });

  async function refusedInTime(runner: HttpRunner, task: HeldTask): Promise<void> {
    const reply = await within(6_000, runner.heartbeat(task));
    expect(reply).toMatchObject({ status: 503 });
  }
});
