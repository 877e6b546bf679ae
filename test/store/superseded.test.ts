import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { limits } from '../../domain/limits.ts';
import { sweepSupersededOutputs } from '../../store/outputs/versions.ts';
import { renewLease } from '../../store/runners/lease.ts';
import { endTask } from '../../store/runs/end-task.ts';
import { cancelRun } from '../../store/runs/operate-runs.ts';
import { findInput, listInputs } from '../../store/runs/task-inputs.ts';
import { writeWatermark } from '../../store/runs/watermark.ts';
import { databaseStage } from '../support/databases.ts';
import { chain, claim, finish, makeGraph, outsideTemplate, upload, writeOne } from '../support/graph.ts';

const { database } = await databaseStage(4);

let runner = { holder: 'token', instanceId: 'none' };
beforeEach(() => {
  runner = { holder: 'token', instanceId: randomUUID() };
});
const all = { mode: 'all', afterPosition: 0, limit: 100, cap: 100 } as const;
const sweep = () => sweepSupersededOutputs(database, { olderThanSeconds: 0 });
const isToBeDeleted = async (objectKey: string) =>
  (await database.query('select 1 from object_deletion where object_key = $1', [objectKey])).length > 0;

test('a replaced version is kept through all attempts of the run that was claimed before, and deleted with its end', async () => {
  await outsideTemplate(database, 'held', { incremental: true });
  const graph = await makeGraph(database, chain(1, 'held'));
  const first = await upload(database, graph, 'input', 'same');
  const other = await upload(database, graph, 'input', 'other');
  const task = (await claim(database, runner, 'held'))!;
  const second = await upload(database, graph, 'input', 'same');
  expect(await sweep()).toBe(0);
  await endTask(
    database,
    { ...runner, taskId: task.taskId },
    { kind: 'release' },
    { digest: 'r', jitter: 0 },
  );
  const again = (await claim(database, runner, 'held'))!;
  expect(await sweep()).toBe(0);
  const held = (await renewLease(database, { ...runner, taskId: again.taskId }))!;
  const { objectKey } = first.output;
  expect(await listInputs(database, held, all)).toMatchObject([
    { outputId: first.output.id, objectKey },
    { outputId: other.output.id },
  ]);
  expect(await findInput(database, held, first.output.id)).toMatchObject({ objectKey });
  expect(
    await writeWatermark(database, { ...runner, taskId: again.taskId }, first.output.id, undefined),
  ).toMatchObject({
    kind: 'moved',
    pendingInputs: 1,
  });
  await finish(database, runner, graph, again);
  expect(await isToBeDeleted(objectKey)).toBe(false);
  expect(await sweep()).toBe(1);
  expect(await isToBeDeleted(objectKey)).toBe(true);
  const next = (await claim(database, runner, 'held'))!;
  const heldNext = (await renewLease(database, { ...runner, taskId: next.taskId }))!;
  expect(await listInputs(database, heldNext, { ...all, mode: 'since-watermark' })).toMatchObject([
    { outputId: other.output.id },
    { outputId: second.output.id, objectKey: second.output.objectKey },
  ]);
});

test('a version without a claim, or replaced before the claim, is deleted at once', async () => {
  await outsideTemplate(database, 'free');
  const graph = await makeGraph(database, chain(1, 'free'));
  await upload(database, graph, 'input', 'same');
  await upload(database, graph, 'input', 'same');
  expect(await sweep()).toBe(1);
  await upload(database, graph, 'input', 'same');
  expect(await claim(database, runner, 'free')).toBeDefined();
  expect(await sweep()).toBe(1);
});

test.each(['fail', 'cancel'] as const)(
  'a version that a run read which ended by %s is kept for its replay, and then deleted',
  async (how) => {
    const template = `read-${how}`;
    await outsideTemplate(database, template, { maxAttempts: 1 });
    const graph = await makeGraph(database, chain(1, template));
    await upload(database, graph, 'input', 'same');
    const { taskId, runId } = (await claim(database, runner, template))!;
    await upload(database, graph, 'input', 'same');
    if (how === 'cancel') await cancelRun(database, runId, randomUUID());
    const failure = { kind: 'fail', category: 'error', reason: 'x' } as const;
    await endTask(database, { ...runner, taskId }, failure, { digest: how, jitter: 0 });
    const [run] = await database.query('select outcome from node_run where id = $1', [runId]);
    expect(run).toEqual({ outcome: how === 'fail' ? 'failed' : 'cancelled' });
    expect(await sweep()).toBe(0);
    await database.query(
      'update node_run set ended_at = ended_at - make_interval(days => $2) where id = $1',
      [runId, limits.failedRunInputsKeptDays + 1],
    );
    expect(await sweep()).toBe(1);
  },
);

test('a young version is kept: a concurrent claim may still see it', async () => {
  await outsideTemplate(database, 'young');
  const graph = await makeGraph(database, chain(1, 'young'));
  await upload(database, graph, 'input', 'same');
  await upload(database, graph, 'input', 'same');
  expect(await sweepSupersededOutputs(database, { olderThanSeconds: 60 })).toBe(0);
});

test('outputs that a run published together stay together for a held run, also when an upload replaces one of them', async () => {
  await outsideTemplate(database, 'writer');
  await outsideTemplate(database, 'reader');
  const graph = await makeGraph(database, [
    { name: 'input', parents: [] },
    { name: 'n1', parents: ['input'], template: 'writer' },
    { name: 'n2', parents: ['n1'], template: 'reader' },
  ]);
  await upload(database, graph, 'input');
  const writer = (await claim(database, runner, 'writer'))!;
  for (const name of ['a', 'b', 'c']) await writeOne(database, runner, graph, writer, name);
  const completed = { kind: 'complete', outcome: 'completed', hasMore: false } as const;
  expect(
    await endTask(database, { ...runner, taskId: writer.taskId }, completed, { digest: 'c', jitter: 0 }),
  ).toMatchObject({ kind: 'ended' });
  const reader = (await claim(database, runner, 'reader'))!;
  await upload(database, graph, 'n1', 'b');
  const held = (await renewLease(database, { ...runner, taskId: reader.taskId }))!;
  const latest = await listInputs(database, held, { ...all, mode: 'latest' });
  expect(latest.map(({ outputIdentifier }) => outputIdentifier)).toEqual(['a', 'b', 'c']);
});
