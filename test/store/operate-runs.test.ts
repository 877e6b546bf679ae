import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { limits } from '../../domain/limits.ts';
import { nodeStateCodes } from '../../domain/node-state.ts';
import { advanceSession } from '../../store/advance.ts';
import { type ClaimedTask, giveUpHeldTask, type RunnerIdentity } from '../../store/claims.ts';
import { Database } from '../../store/database.ts';
import { freezeSession, unfreezeSession } from '../../store/freeze-session.ts';
import { endOverdueClaims } from '../../store/leases.ts';
import { findNodeRun } from '../../store/node-runs.ts';
import { cancelRun, retryFailedRuns, retryRun } from '../../store/operate-runs.ts';
import { endTask, type TaskEnd } from '../../store/outcomes.ts';
import { requestReprocess } from '../../store/reprocess.ts';
import { sweepSupersededOutputs } from '../../store/superseded.ts';
import { type InputMode, listInputs, touchTask } from '../../store/task-reads.ts';
import { writeWatermark } from '../../store/task-writes.ts';
import {
  chain,
  claim,
  finish,
  type Graph,
  makeGraph,
  outsideTemplate,
  stateOf,
  upload,
  writeOne,
} from '../support/graph.ts';
import { testEnvironment } from '../support/stack.ts';

const platform = await testEnvironment();
let database: Database;
beforeAll(async () => {
  database = await Database.open({ databaseUrl: platform.databaseUrl, poolSize: 20 });
});
afterAll(() => database.close());

/** Every task has an instance of its own. */
const holders = new Map<string, RunnerIdentity>();
const holderOf = (task: { readonly taskId: string }) => holders.get(task.taskId)!;
const completed = { kind: 'complete', outcome: 'completed', hasMore: false } as const;
const broken = { kind: 'fail', category: 'validation', reason: 'Broken.' } as const;
const unlucky = { kind: 'fail', category: 'error', reason: 'No luck.' } as const;

async function setUp(options: Parameters<typeof outsideTemplate>[2] = {}, length = 1) {
  const template = `operated-${randomUUID()}`;
  await outsideTemplate(database, template, options);
  return { template, graph: await makeGraph(database, chain(length, template)) };
}

async function tryTake(template: string): Promise<ClaimedTask | undefined> {
  const holder = { holder: 'token', instanceId: randomUUID() };
  const task = await claim(database, holder, template);
  if (task) holders.set(task.taskId, holder);
  return task;
}
const take = async (template: string) => (await tryTake(template))!;
const end = (task: ClaimedTask, how: TaskEnd) =>
  endTask(database, holderOf(task), task.taskId, how, JSON.stringify(how), 0);
const write = (graph: Graph, task: ClaimedTask, identifier?: string, watermark?: number) =>
  writeOne(database, holderOf(task), graph, task, identifier, watermark);
const finishTask = (graph: Graph, task: ClaimedTask) => finish(database, holderOf(task), graph, task);
const uploadId = async (graph: Graph) => (await upload(database, graph, 'input')).output.id;

/** A node whose only run has failed for good. */
async function failedGraph(options: Parameters<typeof setUp>[0] = {}, length = 1) {
  const { template, graph } = await setUp(options, length);
  await upload(database, graph, 'input');
  const task = await take(template);
  await end(task, broken);
  return { template, graph, runId: task.runId };
}

async function inputsOf(task: ClaimedTask, mode: InputMode = 'since-watermark') {
  const held = (await touchTask(database, holderOf(task), task.taskId))!;
  const inputs = await listInputs(database, held, { mode, afterPosition: 0, limit: 500, cap: 500 });
  return inputs.map((input) => input.outputId);
}

async function runsOf(graph: Graph) {
  return database.query<{ id: string; state: string }>(
    'select id, state from node_run where session_id = $1 order by fair_rank',
    [graph.sessionId],
  );
}

/** The time has come for which the run waits. */
async function goOn(graph: Graph, runId: string) {
  await database.query(`update node_run set due_at = clock_timestamp() where id = $1`, [runId]);
  await advanceSession(database, graph.sessionId);
}

describe('a run that failed for good is tried again', () => {
  test('as the same run, with a whole budget of attempts and a back-off that begins anew', async () => {
    const { template, graph } = await setUp({ maxAttempts: 2 });
    await upload(database, graph, 'input');
    const first = await take(template);
    const { runId } = first;
    await end(first, unlucky);
    await goOn(graph, runId);
    await end(await take(template), unlucky);
    expect(await stateOf(database, graph, 'n1')).toBe(nodeStateCodes.Failed);
    const retried = await retryRun(database, runId);
    expect(retried).toMatchObject({
      outcome: 'queued',
      run: {
        id: runId,
        state: 'queued',
        nodeState: 'Pending',
        attempt: 3,
        maxAttempts: 4,
        isRetryable: false,
      },
    });
    const third = await take(template);
    expect(third).toMatchObject({ runId, attempt: 3, maxAttempts: 4, upperPosition: 1 });
    const failed = await end(third, unlucky);
    // Full delay of a first failure: the jitter is 0.
    expect(failed).toMatchObject({ reply: { willRetry: true } });
    expect((await advanceSession(database, graph.sessionId))?.due?.dueInMs).toBeLessThanOrEqual(5_000);
    await goOn(graph, runId);
    expect(await finishTask(graph, await take(template))).toMatchObject({ kind: 'ended' });
    expect(await findNodeRun(database, runId)).toMatchObject({
      state: 'completed',
      attempts: [
        { number: 1, outcome: 'failed', category: 'error', details: 'No luck.' },
        { number: 2, outcome: 'failed', category: 'error' },
        { number: 3, outcome: 'failed', category: 'error' },
        { number: 4, outcome: 'completed', category: null },
      ],
    });
    expect(await runsOf(graph)).toHaveLength(1);
  });

  test('and the node’s children go on when it succeeds', async () => {
    const { template, graph, runId } = await failedGraph({}, 2);
    await retryRun(database, runId);
    await finishTask(graph, await take(template));
    expect(await take(template)).toMatchObject({ nodeName: 'n2' });
  });

  test('an incremental one goes on from its watermark, within the bound that it had', async () => {
    const { template, graph } = await setUp({ incremental: true });
    const ids = [await uploadId(graph), await uploadId(graph), await uploadId(graph)];
    const task = await take(template);
    await write(graph, task, 'first', ids[0]);
    await end(task, broken);
    await retryRun(database, task.runId);
    const news = await uploadId(graph);
    const again = await take(template);
    expect(again).toMatchObject({ runId: task.runId, watermarkOutputId: ids[0], pendingInputs: 2 });
    expect(await inputsOf(again)).toEqual(ids.slice(1));
    for (const id of ids.slice(1)) await write(graph, again, `of-${id}`, id);
    expect(await end(again, completed)).toMatchObject({ kind: 'ended', reply: { nodeState: 'Pending' } });
    const next = await take(template);
    expect(await inputsOf(next)).toEqual([news]);
    expect(next.runId).not.toBe(task.runId);
    await end(next, broken);
  });

  test('a reprocess keeps its own watermark and its bound', async () => {
    const { template, graph } = await setUp({ incremental: true });
    await database.query(`update node_template set reprocess = 'all' where name = $1`, [template]);
    const ids = [await uploadId(graph), await uploadId(graph), await uploadId(graph)];
    const first = await take(template);
    for (const id of ids) await write(graph, first, `of-${id}`, id);
    await end(first, completed);
    await requestReprocess(database, graph.nodes.n1!);
    const replay = await take(template);
    await writeWatermark(database, holderOf(replay), replay.taskId, ids[0]!, undefined);
    await end(replay, broken);
    await retryRun(database, replay.runId);
    const again = await take(template);
    expect(again).toMatchObject({ reason: 'reprocess', runId: replay.runId, watermarkOutputId: ids[0] });
    expect(await inputsOf(again)).toEqual(ids.slice(1));
    await end(again, broken);
    const [node] = await database.query<{ id: number }>(
      'select watermark_output_id as id from node_instance where id = $1',
      [graph.nodes.n1],
    );
    expect(node?.id).toBe(ids[2]);
  });

  test('what it had staged is gone, so that completing needs an output of the new attempt', async () => {
    const { template, graph } = await setUp();
    await upload(database, graph, 'input');
    const task = await take(template);
    await write(graph, task, 'staged');
    await end(task, broken);
    await retryRun(database, task.runId);
    const again = await take(template);
    expect(await end(again, completed)).toEqual({ kind: 'refused', why: 'output-missing' });
    await write(graph, again, 'staged');
    expect(await end(again, completed)).toMatchObject({ kind: 'ended' });
  });

  test('leases that it lost before do not count any more', async () => {
    const { template, graph } = await setUp({ maxAttempts: 20 });
    await upload(database, graph, 'input');
    const lose = async () => {
      const task = await take(template);
      await touchTask(database, holderOf(task), task.taskId);
      await giveUpHeldTask(database, holderOf(task));
      return task;
    };
    const { runId } = await lose();
    await lose();
    await lose();
    expect(await stateOf(database, graph, 'n1')).toBe(nodeStateCodes.Failed);
    await retryRun(database, runId);
    await lose();
    await lose();
    expect(await take(template)).toMatchObject({ runId, attempt: 6 });
  });

  test('it reads the versions of its inputs that it had, also after a sweep', async () => {
    const { template, graph } = await setUp();
    await upload(database, graph, 'input', 'same');
    const task = await take(template);
    await end(task, broken);
    await retryRun(database, task.runId);
    await upload(database, graph, 'input', 'same');
    await sweepSupersededOutputs(database, { olderThanSeconds: 0 });
    const again = await take(template);
    expect(await inputsOf(again, 'all')).toHaveLength(1);
    await end(again, broken);
  });

  test('also when it was held while its session was frozen', async () => {
    const { template, graph } = await setUp();
    await upload(database, graph, 'input');
    const task = await take(template);
    await freezeSession(database, graph.sessionId);
    await end(task, broken);
    expect(await retryRun(database, task.runId)).toEqual({ outcome: 'frozen' });
    expect(await retryFailedRuns(database, graph.sessionId)).toEqual({ outcome: 'frozen' });
    await unfreezeSession(database, graph.sessionId);
    await retryRun(database, task.runId);
    expect(await take(template)).toMatchObject({ runId: task.runId, attempt: 2 });
  });

  test('a session with many of them does not hold up the first task of another', async () => {
    const template = `operated-${randomUUID()}`;
    await outsideTemplate(database, template);
    const nodes = Array.from({ length: 60 }, (_, index) => ({
      name: `n${index}`,
      parents: ['input'],
      template,
    }));
    const big = await makeGraph(database, [{ name: 'input', parents: [] }, ...nodes]);
    await upload(database, big, 'input');
    for (let index = 0; index < 60; index++) await end(await take(template), broken);
    expect(await retryFailedRuns(database, big.sessionId)).toMatchObject({ retried: 60 });
    const small = await makeGraph(database, chain(1, template));
    await upload(database, small, 'input');
    let place = 0;
    while ((await take(template)).sessionId !== small.sessionId) place += 1;
    expect(place).toBeLessThan(30);
  });
});

describe('what cannot be tried again is refused', () => {
  test('an open run, one that did not fail, one that a newer run has replaced, and one that is not there', async () => {
    const { template, graph } = await setUp();
    await upload(database, graph, 'input');
    const first = await take(template);
    expect(await retryRun(database, first.runId)).toEqual({ outcome: 'open' });
    await finishTask(graph, first);
    expect(await retryRun(database, first.runId)).toEqual({ outcome: 'not-failed' });
    await upload(database, graph, 'input');
    const second = await take(template);
    await end(second, broken);
    await upload(database, graph, 'input');
    expect(await retryRun(database, second.runId)).toEqual({ outcome: 'superseded' });
    expect(await retryRun(database, randomUUID())).toEqual({ outcome: 'missing' });
    expect(await retryFailedRuns(database, randomUUID())).toEqual({ outcome: 'missing' });
    expect(await runsOf(graph)).toHaveLength(3);
  });

  test('a repeat changes nothing, and of ten operators at once one has it queued', async () => {
    const { template, graph, runId } = await failedGraph();
    const results = await Promise.all(Array.from({ length: 10 }, () => retryRun(database, runId)));
    expect(results.map(({ outcome }) => outcome).sort()).toEqual(['queued', ...Array(9).fill('unchanged')]);
    expect(await take(template)).toMatchObject({ attempt: 2 });
    expect(await retryRun(database, runId)).toMatchObject({ outcome: 'unchanged', run: { state: 'held' } });
    expect(await runsOf(graph)).toHaveLength(1);
  });

  test('operators against uploads: each input is gone over, and the node never has two open runs', async () => {
    const { template, graph, runId } = await failedGraph();
    const [retried] = await Promise.all([
      retryRun(database, runId),
      uploadId(graph),
      retryFailedRuns(database, graph.sessionId),
    ]);
    const seen = new Set<number>();
    for (let task = await tryTake(template); task; task = await tryTake(template)) {
      for (const id of await inputsOf(task, 'all')) seen.add(id);
      await finishTask(graph, task);
    }
    expect(seen.size).toBe(2);
    const runs = await runsOf(graph);
    expect(runs.map(({ state }) => state)).toEqual(['done', 'done']);
    if (retried.outcome !== 'queued') expect(['superseded', 'unchanged']).toContain(retried.outcome);
  });
});

describe('all failed nodes of a session at once', () => {
  test('are tried again with one of each node, and a repeat finds none', async () => {
    const template = `operated-${randomUUID()}`;
    await outsideTemplate(database, template);
    const names = ['a', 'b', 'c'];
    const graph = await makeGraph(database, [
      { name: 'input', parents: [] },
      ...names.map((name) => ({ name, parents: ['input'], template })),
    ]);
    await upload(database, graph, 'input');
    for (const how of [broken, { ...completed, outcome: 'no-output' } as const, broken])
      await end(await take(template), how);
    const both = await Promise.all([1, 2].map(() => retryFailedRuns(database, graph.sessionId)));
    expect(both.map((result) => 'retried' in result && result.retried).sort()).toEqual([0, 2]);
    expect(await stateOf(database, graph, 'b')).toBe(nodeStateCodes.Succeeded);
    const nodes = [(await take(template)).nodeName, (await take(template)).nodeName];
    expect(nodes).toEqual(['a', 'c']);
  });
});

describe('cancelling', () => {
  test('a queued run ends it at once, and its inputs make no other', async () => {
    const { template, graph } = await setUp({}, 2);
    await upload(database, graph, 'input');
    const [run] = await runsOf(graph);
    expect(await cancelRun(database, run!.id)).toMatchObject({
      outcome: 'ended',
      run: {
        state: 'cancelled',
        nodeState: 'Failed',
        statusDetails: 'cancelled',
        isRetryable: true,
        attempts: [{ outcome: 'cancelled', startedAt: null, category: null }],
      },
      effects: { ended: [{ runId: run!.id, attempt: 1, outcome: 'cancelled' }] },
    });
    expect(await tryTake(template)).toBeUndefined();
    await advanceSession(database, graph.sessionId);
    expect(await runsOf(graph)).toHaveLength(1);
    expect(await cancelRun(database, run!.id)).toMatchObject({ outcome: 'unchanged' });
    await retryRun(database, run!.id);
    const again = await take(template);
    expect(again).toMatchObject({ runId: run!.id, attempt: 2, upperPosition: 1 });
    await end(again, broken);
    await uploadId(graph);
    expect(await take(template)).toMatchObject({ attempt: 1, upperPosition: 2 });
  });

  test('a run that waits for its retry ends it and drops what it staged', async () => {
    const { template, graph } = await setUp();
    await upload(database, graph, 'input');
    const task = await take(template);
    await write(graph, task);
    await end(task, unlucky);
    expect(await cancelRun(database, task.runId)).toMatchObject({
      outcome: 'ended',
      run: { state: 'cancelled', nextAttemptAt: null },
    });
    const staged = 'select 1 from node_output where node_instance_id = $1';
    expect(await database.query(staged, [graph.nodes.n1])).toEqual([]);
    expect(await advanceSession(database, graph.sessionId)).toMatchObject({ due: null });
  });

  test.each<[string, (task: ClaimedTask, graph: Graph) => Promise<unknown>]>([
    ['completes', (task, graph) => finishTask(graph, task)],
    ['fails', (task) => end(task, unlucky)],
    ['gives it back', (task) => end(task, { kind: 'release' })],
    ['claims something else', (task) => giveUpHeldTask(database, holderOf(task))],
    ['is never heard of again', (task) => loseLease(task)],
  ])('a held run asks its holder; when it %s, the run has ended as cancelled', async (_how, act) => {
    const { template, graph } = await setUp({ maxAttempts: 5 });
    await upload(database, graph, 'input');
    const task = await take(template);
    expect(await cancelRun(database, task.runId)).toMatchObject({
      outcome: 'requested',
      run: { state: 'held', cancelRequested: true, heldBy: { instanceId: holderOf(task).instanceId } },
    });
    expect(await cancelRun(database, task.runId)).toMatchObject({ outcome: 'requested' });
    await act(task, graph);
    expect(await findNodeRun(database, task.runId)).toMatchObject({
      state: 'cancelled',
      nodeState: 'Failed',
      statusDetails: 'cancelled',
      attempt: 1,
    });
    const outputs = 'select 1 from node_output where node_instance_id = $1';
    expect(await database.query(outputs, [graph.nodes.n1])).toEqual([]);
    expect(await tryTake(template)).toBeUndefined();
  });

  const secondsLeft = async ({ taskId }: ClaimedTask) => {
    const [claim] = await database.query<{ seconds: number | null }>(
      `select extract(epoch from timeout_at - clock_timestamp())::float8 as seconds
         from node_claim where task_id = $1`,
      [taskId],
    );
    return claim!.seconds;
  };

  test('bounds how long a holder may go on that only beats: a lease to hear of it, and a while to end', async () => {
    const { template, graph } = await setUp({ leaseSeconds: 20 });
    await upload(database, graph, 'input');
    const task = await take(template);
    expect(await secondsLeft(task)).toBeNull();
    await cancelRun(database, task.runId);
    const bound = await secondsLeft(task);
    expect(bound).toBeLessThanOrEqual(20 + limits.cancelGraceSeconds);
    expect(bound).toBeGreaterThan(limits.cancelGraceSeconds);
    expect(await touchTask(database, holderOf(task), task.taskId)).toMatchObject({ cancelRequested: true });
    // A second cancel grants no further time.
    await database.query(`update node_claim set timeout_at = clock_timestamp() where task_id = $1`, [
      task.taskId,
    ]);
    await cancelRun(database, task.runId);
    await endOverdue();
    expect(await findNodeRun(database, task.runId)).toMatchObject({
      state: 'cancelled',
      nodeState: 'Failed',
      statusDetails: 'cancelled',
    });
    expect(await touchTask(database, holderOf(task), task.taskId)).toBeUndefined();
  });

  test('leaves an attempt the shorter time that its node template gives it', async () => {
    const { template, graph } = await setUp({ timeoutSeconds: 30 });
    await upload(database, graph, 'input');
    const task = await take(template);
    await cancelRun(database, task.runId);
    expect(await secondsLeft(task)).toBeLessThanOrEqual(30);
  });

  async function loseLease(task: ClaimedTask) {
    await database.query(
      `update node_claim set lease_until = clock_timestamp() - interval '1 second' where task_id = $1`,
      [task.taskId],
    );
    await endOverdue();
  }

  async function endOverdue() {
    await database.query(
      'insert into platform_alive (process_id, beat_at) values (gen_random_uuid(), clock_timestamp())',
    );
    await endOverdueClaims(database, 10, () => 0);
  }

  test('a run that has ended otherwise is refused, and an unknown one missing', async () => {
    const { runId } = await failedGraph();
    expect(await cancelRun(database, runId)).toEqual({ outcome: 'ended-otherwise' });
    expect(await cancelRun(database, randomUUID())).toEqual({ outcome: 'missing' });
  });

  test('races with claims: each run is either held and asked, or ended and never held', async () => {
    const { template } = await setUp();
    for (let round = 0; round < 20; round++) {
      const graph = await makeGraph(database, chain(1, template));
      await upload(database, graph, 'input');
      const [run] = await runsOf(graph);
      const [task, cancelled] = await Promise.all([tryTake(template), cancelRun(database, run!.id)]);
      expect(cancelled.outcome).toBe(task ? 'requested' : 'ended');
      if (task) await giveUpHeldTask(database, holderOf(task));
    }
  });
});
