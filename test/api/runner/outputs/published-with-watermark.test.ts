/** Consumption and publication move together: however a task ends, every consumed input has its result. */
import { describe, expect, test } from 'vitest';
import { endOverdueClaims } from '../../../../store/runs/expire-leases.ts';
import { requeueTask } from '../../../../store/runs/release-claim.ts';
import { ask } from '../../../support/api.ts';
import { runnerStage, type StageGraph, type TestRunner } from '../../../support/runner.ts';
import { named, uploadStage } from './upload-stage.ts';

const stage = await runnerStage();
const { api, database, people } = stage;
const { held, listOf } = uploadStage(stage);
const { token } = people.Developer;

const past = (id: number | undefined) => ({ 'x-platform-watermark': String(id) });
const advance = (runner: TestRunner, taskId: string, inputId: number | undefined) =>
  runner.call('PUT', `/tasks/${taskId}/watermark`, { inputId });

async function namesOf(nodeInstanceId: number | undefined): Promise<string[]> {
  const outputs: { outputIdentifier: string }[] = await listOf(nodeInstanceId);
  return outputs.map(({ outputIdentifier }) => outputIdentifier);
}

async function stagedOf(runId: string): Promise<string[]> {
  const rows = await database.query<{ name: string }>(
    'select output_identifier as name from node_output where run_id = $1 and position is null order by id',
    [runId],
  );
  return rows.map(({ name }) => name);
}

async function operate(runId: string, verb: 'cancel' | 'retry') {
  return ask(api.url, 'POST', `/api/v2/admin/node-runs/${runId}/${verb}`, { token });
}

/** Lets a time of the task's claim pass. */
async function overdue(taskId: string, column: 'lease_until' | 'timeout_at'): Promise<void> {
  await database.query(
    `update node_claim set ${column} = clock_timestamp() - interval '1 s' where task_id = $1`,
    [taskId],
  );
  await endOverdueClaims(database, 100, () => 0);
}

describe('a move of the watermark', () => {
  test('publishes all that the run has staged, in the order of writing, and wakes the child', async () => {
    const { graph, ids, runner, taskId, runId } = await held(2, true);
    for (const name of ['a', 'b']) expect((await runner.write(taskId, name, named(name))).status).toBe(201);
    expect(await namesOf(graph.nodes.n1)).toEqual([]);
    expect((await advance(runner, taskId, ids[0])).body).toEqual({ watermark: ids[0], pendingInputs: 1 });
    expect(await namesOf(graph.nodes.n1)).toEqual(['a', 'b']);
    const child = await stage.runner().acquire(graph.template, 10);
    expect([child.nodeName, child.incremental.pendingInputs]).toEqual(['n2', 2]);
    await runner.write(taskId, 'c', named('c'));
    await runner.write(taskId, 'd', { ...named('d'), ...past(ids[1]) });
    const outputs: { outputIdentifier: string; createdAt: string; id: number }[] = await listOf(
      graph.nodes.n1,
    );
    expect(outputs.map(({ outputIdentifier }) => outputIdentifier)).toEqual(['a', 'b', 'c', 'd']);
    const times = outputs.map(({ createdAt }) => createdAt);
    expect(times).toEqual(times.toSorted());
    const [node] = await database.query('select newest_output_id from node_instance where id = $1', [
      graph.nodes.n1,
    ]);
    expect(node).toEqual({ newestOutputId: outputs.at(-1)!.id });
    expect(await stagedOf(runId)).toEqual([]);
    expect((await runner.end(taskId, 'complete', { outcome: 'completed' })).body).toMatchObject({
      nodeState: 'Succeeded',
    });
    expect(await namesOf(graph.nodes.n1)).toEqual(['a', 'b', 'c', 'd']);
  });

  test('with the completion of a multi-part upload, or with a resend, publishes the outputs staged before', async () => {
    const { graph, ids, runner, uploads, taskId } = await held(3, true);
    await runner.write(taskId, 'a', named('a'));
    const handle = await uploads.begin(taskId, { ...named('b'), ...past(ids[0]) });
    await uploads.put(taskId, handle, 1, 'b');
    expect(await namesOf(graph.nodes.n1)).toEqual([]);
    expect((await uploads.complete(taskId, handle)).status).toBe(201);
    expect(await namesOf(graph.nodes.n1)).toEqual(['a', 'b']);
    await runner.write(taskId, 'c', named('c'));
    await runner.write(taskId, 'd', named('d'));
    expect((await runner.write(taskId, 'c', { ...named('c'), ...past(ids[1]) })).status).toBe(200);
    expect(await namesOf(graph.nodes.n1)).toEqual(['a', 'b', 'c', 'd']);
    await runner.write(taskId, 'e', named('e'));
    // An identifier that is published already: the start of an upload answers with it, and moves the watermark.
    expect((await uploads.start(taskId, { ...named('a'), ...past(ids[2]) })).status).toBe(200);
    expect(await namesOf(graph.nodes.n1)).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  test('to its current position publishes the outputs staged since', async () => {
    const { graph, ids, runner, taskId, runId } = await held(2, true);
    await advance(runner, taskId, ids[0]);
    await runner.write(taskId, 'late', named('late'));
    expect(await stagedOf(runId)).toEqual(['late']);
    const again = await advance(runner, taskId, ids[0]);
    expect(again).toMatchObject({ status: 200, body: { watermark: ids[0], pendingInputs: 1 } });
    expect(await namesOf(graph.nodes.n1)).toEqual(['late']);
    await advance(runner, taskId, ids[0]);
    expect(await namesOf(graph.nodes.n1)).toEqual(['late']);
  });

  test('that is refused publishes nothing', async () => {
    const { graph, ids, runner, taskId, runId } = await held(2, true);
    await advance(runner, taskId, ids[1]);
    await runner.write(taskId, 'a', named('a'));
    expect((await advance(runner, taskId, ids[0])).status).toBe(409);
    expect((await advance(runner, taskId, 999_999)).status).toBe(409);
    expect((await runner.write(taskId, 'b', { ...named('b'), ...past(ids[0]) })).status).toBe(409);
    expect([await namesOf(graph.nodes.n1), await stagedOf(runId)]).toEqual([[], ['a']]);
  });
});

describe('outputs staged before the last move stay published, and later ones are dropped', () => {
  const ends: Record<string, (runner: TestRunner, taskId: string, runId: string) => Promise<unknown>> = {
    'a validation failure': (runner, taskId) =>
      runner.end(taskId, 'fail', { category: 'validation', reason: 'Broken.' }),
    'the last attempt failing': async (runner, taskId, runId) => {
      await database.query('update node_run set max_attempts = 1 where id = $1', [runId]);
      await runner.end(taskId, 'fail', { category: 'error', reason: 'No luck.' });
    },
    'a cancel that the holder hears of': async (runner, taskId, runId) => {
      await operate(runId, 'cancel');
      await runner.end(taskId, 'complete', { outcome: 'completed' });
    },
    'a cancel while nobody holds the run': async (runner, taskId, runId) => {
      await runner.end(taskId, 'release');
      await operate(runId, 'cancel');
    },
    'a cancel whose holder is gone': async (_runner, taskId, runId) => {
      await operate(runId, 'cancel');
      await overdue(taskId, 'lease_until');
    },
    'the last attempt taking too long': async (_runner, taskId, runId) => {
      await database.query('update node_run set max_attempts = 1 where id = $1', [runId]);
      await overdue(taskId, 'timeout_at');
    },
    'the third lost lease': async (_runner, taskId, runId) => {
      await database.query('update node_run set lost_count = 2 where id = $1', [runId]);
      await overdue(taskId, 'lease_until');
    },
    'an end without an output': (runner, taskId) => runner.end(taskId, 'complete', { outcome: 'no-output' }),
    'an end as suspended': (runner, taskId) => runner.end(taskId, 'complete', { outcome: 'suspended' }),
  };

  test.for(Object.keys(ends))('at %s, and the next run goes on behind it', async (name) => {
    const { graph, ids, runner, taskId, runId } = await held(3, true);
    for (const at of [0, 1]) {
      await runner.write(taskId, `${at}`, named(`of-${ids[at]}`));
      await advance(runner, taskId, ids[at]);
    }
    await runner.write(taskId, 'unfinished', named('unfinished'));
    await ends[name]!(runner, taskId, runId);
    const consumed = [`of-${ids[0]}`, `of-${ids[1]}`];
    expect([await namesOf(graph.nodes.n1), await stagedOf(runId)]).toEqual([consumed, []]);
    const isRetryable = (await operate(runId, 'retry')).status === 202;
    if (!isRetryable) await stage.upload(graph, 'input', 'more');
    // The publication has queued the child, so a claim may get either node.
    const next = await acquireOf(graph, 'n1');
    const { inputs } = (await next.runner.call('GET', `/tasks/${next.taskId}/inputs`)).body;
    expect(inputs[0].outputId).toBe(ids[2]);
    await next.runner.write(next.taskId, '2', { ...named(`of-${ids[2]}`), ...past(ids[2]) });
    expect(await namesOf(graph.nodes.n1)).toEqual([...consumed, `of-${ids[2]}`]);
  });

  const returns: Record<string, (runner: TestRunner, taskId: string) => Promise<unknown>> = {
    'a release': (runner, taskId) => runner.end(taskId, 'release'),
    'a lost lease': (_runner, taskId) => overdue(taskId, 'lease_until'),
    'a token that has ended': (_runner, taskId) => requeueTask(database, taskId),
  };

  test.for(Object.keys(returns))('but %s keeps that too, for the next attempt', async (name) => {
    const { graph, ids, runner, taskId, runId } = await held(2, true);
    await runner.write(taskId, 'a', { ...named('a'), ...past(ids[0]) });
    await runner.write(taskId, 'b', named('b'));
    await returns[name]!(runner, taskId);
    expect([await namesOf(graph.nodes.n1), await stagedOf(runId)]).toEqual([['a'], ['b']]);
    const next = await acquireOf(graph, 'n1');
    const again = await next.runner.write(next.taskId, 'b', { ...named('b'), ...past(ids[1]) });
    expect(again.status).toBe(200);
    expect(await namesOf(graph.nodes.n1)).toEqual(['a', 'b']);
  });

  async function acquireOf(graph: StageGraph, node: string) {
    for (;;) {
      const runner = stage.runner();
      const task = await runner.acquire(graph.template, 10);
      if (task.nodeName === node) return { runner, taskId: task.taskId as string };
    }
  }

  test('in a reprocess too, with its own watermark', async () => {
    const { graph, ids, runner, taskId } = await held(2, true);
    for (const id of ids) await runner.write(taskId, 'x', { ...named(`of-${id}`), ...past(id) });
    await runner.end(taskId, 'complete', { outcome: 'completed' });
    await database.query(`update node_template set reprocess = 'all' where name = $1`, [graph.template]);
    await ask(api.url, 'POST', `/api/v2/node-instance/${graph.nodes.n1}/reprocess`, { token });
    const again = await acquireOf(graph, 'n1');
    await again.runner.write(again.taskId, 'y', named('again-1'));
    expect((await advance(again.runner, again.taskId, ids[0])).body.pendingInputs).toBe(1);
    await again.runner.write(again.taskId, 'y', named('again-2'));
    await again.runner.end(again.taskId, 'fail', { category: 'validation', reason: 'Broken.' });
    expect(await namesOf(graph.nodes.n1)).toEqual([`of-${ids[0]}`, `of-${ids[1]}`, 'again-1']);
  });
});

test('several outputs of one input are published with the watermark on the last of them', async () => {
  const { graph, ids, runner, taskId } = await held(2, true);
  await runner.write(taskId, '1', named('table'));
  await runner.write(taskId, '2', named('summary'));
  await runner.write(taskId, '3', { ...named('picture'), ...past(ids[0]) });
  await runner.end(taskId, 'fail', { category: 'validation', reason: 'Broken.' });
  expect(await namesOf(graph.nodes.n1)).toEqual(['table', 'summary', 'picture']);
});

test('a task whose outputs were all published before completes, and one that hands on its rest gets a follow-up', async () => {
  const { graph, ids, runner, taskId } = await held(2, true);
  await runner.write(taskId, 'a', named('a'));
  await advance(runner, taskId, ids[0]);
  const end = await runner.end(taskId, 'complete', { outcome: 'completed', hasMore: true });
  expect(end.body).toEqual({ taskId, outcome: 'completed', nodeState: 'Pending', followUp: true });
  expect(await namesOf(graph.nodes.n1)).toEqual(['a']);
});

test('the published outputs of a failed run have a lineage: every input since the run started', async () => {
  const { graph, ids, runner, taskId } = await held(3, true);
  await runner.write(taskId, 'a', named('a'));
  await advance(runner, taskId, ids[0]);
  await overdue(taskId, 'lease_until');
  const next = stage.runner();
  let task = await next.acquire(graph.template, 10);
  if (task.nodeName !== 'n1') task = await stage.runner().acquire(graph.template, 10);
  await next.write(task.taskId, 'b', { ...named('b'), ...past(ids[1]) });
  await next.end(task.taskId, 'fail', { category: 'validation', reason: 'Broken.' });
  const [first] = await listOf(graph.nodes.n1);
  const path = `/api/v2/node-instance/outputs/${first.id}/lineage`;
  const { body } = await ask(api.url, 'GET', path, { token });
  expect(body.inputs.map(({ outputId }: { outputId: number }) => outputId)).toEqual([ids[0], ids[1]]);
});

test('the lineage of published outputs stays when their run is cancelled before its next claim', async () => {
  const { graph, ids, runner, taskId, runId } = await held(2, true);
  await runner.write(taskId, 'a', { ...named('a'), ...past(ids[0]) });
  const [output]: { id: number }[] = await listOf(graph.nodes.n1);
  const lineage = async () =>
    (await ask(api.url, 'GET', `/api/v2/node-instance/outputs/${output!.id}/lineage`, { token })).body;
  const recorded = {
    isRecorded: true,
    runner: { instanceId: runner.instanceId },
    inputs: [{ outputId: ids[0] }],
  };
  await runner.end(taskId, 'fail', { category: 'error', reason: 'No luck.' });
  expect(await lineage()).toMatchObject({ isRecorded: false });
  expect((await operate(runId, 'cancel')).status).toBe(200);
  expect(await lineage()).toMatchObject(recorded);
  expect((await operate(runId, 'retry')).status).toBe(202);
  expect((await operate(runId, 'cancel')).status).toBe(200);
  expect(await lineage()).toMatchObject(recorded);
});
