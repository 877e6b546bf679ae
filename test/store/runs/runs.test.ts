import { describe, expect, test } from 'vitest';
import { nodeStateCodes } from '../../../domain/runs/node-state.ts';
import { renewLease } from '../../../store/runners/lease.ts';
import { endTask, type TaskEnd } from '../../../store/runs/end-task.ts';
import { reconcileSession } from '../../../store/runs/reconcile-session.ts';
import { listInputs } from '../../../store/runs/task-inputs.ts';
import { writeWatermark } from '../../../store/runs/watermark.ts';
import { databaseStage } from '../../support/databases.ts';
import {
  chain,
  changesBy,
  claim,
  finish,
  makeGraph,
  outsideTemplate,
  stateOf,
  upload,
  writeOne,
} from '../../support/graph.ts';
import { claimTests } from './run-claims.ts';
import { endTests } from './run-ends.ts';
import { completed, runWorld } from './run-world.ts';

const { database } = await databaseStage(40);
const world = runWorld(database);
const { ownTemplate, runner } = world;

describe('a fact takes the next step in its own transaction', () => {
  test('an upload makes its children Pending and claimable at once', async () => {
    const template = await ownTemplate();
    const graph = await makeGraph(database, chain(1, template));
    const [change] = await changesBy(database, () => upload(database, graph, 'input'));
    expect(change?.wake).toBe(true);
    expect(await stateOf(database, graph, 'input')).toBe(nodeStateCodes.Succeeded);
    expect(await stateOf(database, graph, 'n1')).toBe(nodeStateCodes.Pending);
    const task = await claim(database, runner('a'), template);
    expect(task).toMatchObject({ attempt: 1, reason: 'input', nodeName: 'n1', upperPosition: 1 });
  });

  test('completing a run publishes what it staged and hands the next node on', async () => {
    const template = await ownTemplate();
    const graph = await makeGraph(database, chain(2, template));
    await upload(database, graph, 'input');
    const first = (await claim(database, runner('a'), template))!;
    const ended = await finish(database, runner('a'), graph, first);
    expect(ended).toMatchObject({ kind: 'ended', reply: { nodeState: 'Succeeded', followUp: false } });
    const second = (await claim(database, runner('a'), template))!;
    expect(second.nodeName).toBe('n2');
    expect(await stateOf(database, graph, 'n1')).toBe(nodeStateCodes.Succeeded);
  });

  test('a node with two parents waits for both, unless any of them is enough', async () => {
    const all = await ownTemplate();
    const any = await ownTemplate({ trigger: 'any' });
    const graph = await makeGraph(database, [
      { name: 'left', parents: [] },
      { name: 'right', parents: [] },
      { name: 'both', parents: ['left', 'right'], template: all },
      { name: 'either', parents: ['left', 'right'], template: any },
    ]);
    await upload(database, graph, 'left');
    expect(await stateOf(database, graph, 'both')).toBe(nodeStateCodes.NeverBegan);
    expect(await stateOf(database, graph, 'either')).toBe(nodeStateCodes.Pending);
    await upload(database, graph, 'right');
    expect(await stateOf(database, graph, 'both')).toBe(nodeStateCodes.Pending);
  });

  test('inputs that arrive while a run is held make exactly one further run', async () => {
    const template = await ownTemplate();
    const graph = await makeGraph(database, chain(1, template));
    await upload(database, graph, 'input');
    const first = (await claim(database, runner('a'), template))!;
    for (let index = 0; index < 5; index++) await upload(database, graph, 'input');
    expect(await claim(database, runner('b'), template)).toBeUndefined();
    const ended = await finish(database, runner('a'), graph, first);
    expect(ended).toMatchObject({ reply: { nodeState: 'Pending' } });
    const second = (await claim(database, runner('a'), template))!;
    expect(second.upperPosition).toBeGreaterThanOrEqual(6);
    await finish(database, runner('a'), graph, second);
    expect(await claim(database, runner('a'), template)).toBeUndefined();
  });

  test('a second reconcile of a planned session changes nothing', async () => {
    const template = await ownTemplate();
    const graph = await makeGraph(database, chain(3, template));
    await upload(database, graph, 'input');
    const first = await reconcileSession(database, graph.sessionId);
    const second = await reconcileSession(database, graph.sessionId);
    expect(first).toMatchObject({ start: [], lookInMs: 1_000 });
    expect(second).toEqual(first);
  });
});

describe('what the workflow waits for', () => {
  test('an attempt is awaited when it has been held for a second, and its end is then reported as awaited', async () => {
    const template = await ownTemplate();
    const graph = await makeGraph(database, chain(1, template));
    await upload(database, graph, 'input');
    const task = (await claim(database, runner('a'), template))!;
    const age = `update node_attempt set started_at = started_at - interval '2 seconds' where run_id = $1`;
    await database.query(age, [task.runId]);
    expect(await reconcileSession(database, graph.sessionId)).toMatchObject({
      start: [{ runId: task.runId, attempt: 1, nodeName: 'n1' }],
      lookInMs: null,
    });
    const changes = await changesBy(database, () => finish(database, runner('a'), graph, task));
    expect(changes).toMatchObject([{ wake: true, ended: [{ runId: task.runId, awaited: true }] }]);
  });

  test('while the workflow reconciles by itself, short runs of external runners notify no workflow', async () => {
    const template = await ownTemplate();
    const graph = await makeGraph(database, chain(2, template));
    await upload(database, graph, 'input');
    await reconcileSession(database, graph.sessionId);
    const task = (await claim(database, runner('a'), template))!;
    const changes = await changesBy(database, () => finish(database, runner('a'), graph, task));
    expect(changes).toMatchObject([{ wake: false, ended: [{ awaited: false }] }]);
    expect(await reconcileSession(database, graph.sessionId)).toMatchObject({
      ended: [{ nodeName: 'n1', attempt: 1, outcome: 'completed' }],
    });
  });

  test('a queue is awaited when it has stalled for a while, and not while it moves', async () => {
    const template = await ownTemplate();
    const wide = ['n1', 'n2', 'n3', 'n4'].map((name) => ({ name, parents: ['input'], template }));
    const graph = await makeGraph(database, [{ name: 'input', parents: [] }, ...wide]);
    await upload(database, graph, 'input');
    const age = (column: string, table: string, seconds: number) =>
      database.query(
        `update ${table} set ${column} = ${column} - make_interval(secs => $2) where session_id = $1`,
        [graph.sessionId, seconds],
      );
    await age('available_at', 'node_attempt', 11);
    const started = async () => (await reconcileSession(database, graph.sessionId))!.start.length;
    expect(await started()).toBe(4);
    const task = (await claim(database, runner('a'), template))!;
    expect(await reconcileSession(database, graph.sessionId)).toMatchObject({ start: [], lookInMs: 1_000 });
    await finish(database, runner('a'), graph, task);
    expect(await reconcileSession(database, graph.sessionId)).toMatchObject({ start: [], lookInMs: 5_000 });
    await age('last_processed', 'node_instance', 3);
    expect(await started()).toBe(3);
  });

  test('a session in which attempts keep ending is reconciled less often, until it is calm', async () => {
    const template = await ownTemplate();
    const graph = await makeGraph(database, chain(5, template));
    await upload(database, graph, 'input');
    const reconcileInMs = async () => (await reconcileSession(database, graph.sessionId))!.lookInMs;
    for (let run = 0; run < 2; run++) {
      const task = (await claim(database, runner('a'), template))!;
      await finish(database, runner('a'), graph, task);
    }
    expect(await reconcileInMs()).toBe(5_000);
    expect(await reconcileInMs()).toBe(1_000);
  });

  test('a run that falls due before the next reconcile of a busy session notifies its workflow, and no other one does', async () => {
    const template = await ownTemplate();
    const graph = await makeGraph(database, chain(5, template));
    await upload(database, graph, 'input');
    for (let run = 0; run < 2; run++)
      await finish(database, runner('a'), graph, (await claim(database, runner('a'), template))!);
    const end = async (ended: TaskEnd, jitter: number) => {
      const { taskId } = (await claim(database, runner('a'), template))!;
      return await changesBy(database, () =>
        endTask(database, { ...runner('a'), taskId }, ended, { digest: taskId, jitter }),
      );
    };
    await reconcileSession(database, graph.sessionId);
    for (let release = 0; release < 2; release++)
      expect(await end({ kind: 'release' }, 0)).toMatchObject([{ wake: false }]);
    expect(await end({ kind: 'release' }, 0)).toMatchObject([{ wake: true }]);
    await database.query(
      "update node_run set state = 'queued', due_at = null where session_id = $1 and state = 'waiting'",
      [graph.sessionId],
    );
    expect(await end({ kind: 'fail', category: 'error', reason: 'x' }, 0.9)).toMatchObject([{ wake: true }]);
  });

  test('beside many sessions the end of the last open run notifies the workflow, and no other one does', async () => {
    const template = await ownTemplate();
    const graph = await makeGraph(database, chain(2, template));
    await upload(database, graph, 'input');
    expect(await reconcileSession(database, graph.sessionId, [], 20_000)).toMatchObject({ lookInMs: 20_000 });
    for (const wake of [false, true]) {
      const task = (await claim(database, runner('a'), template))!;
      const changes = await changesBy(database, () => finish(database, runner('a'), graph, task));
      expect(changes).toMatchObject([{ wake, ended: [{ awaited: false }] }]);
    }
  });

  test('a built-in run that is queued in a busy session notifies its workflow, which alone starts it', async () => {
    const template = await ownTemplate();
    const builtin = 'builtin-after-busy';
    await outsideTemplate(database, builtin, { runnerType: 'system' });
    const graph = await makeGraph(database, [
      { name: 'input', parents: [] },
      { name: 'left', parents: ['input'], template },
      { name: 'right', parents: ['input'], template },
      { name: 'both', parents: ['left', 'right'], template: builtin },
    ]);
    await upload(database, graph, 'input');
    await reconcileSession(database, graph.sessionId);
    for (const isUrgent of [false, true]) {
      const task = (await claim(database, runner('a'), template))!;
      const changes = await changesBy(database, () => finish(database, runner('a'), graph, task));
      expect(changes).toMatchObject([{ wake: isUrgent, isUrgent }]);
    }
  });

  test('a built-in run is awaited, and so started, at once', async () => {
    const builtin = 'builtin-awaited';
    await outsideTemplate(database, builtin, { runnerType: 'system' });
    const graph = await makeGraph(database, chain(2, builtin));
    await upload(database, graph, 'input');
    await reconcileSession(database, graph.sessionId);
    expect((await reconcileSession(database, graph.sessionId))?.start).toMatchObject([{ builtin: true }]);
  });
});

claimTests(world);
endTests(world);

describe('inputs and the watermark', () => {
  test('an output with a watermark is published with the step; a lower or unknown input is refused and stores nothing', async () => {
    const template = await ownTemplate({ incremental: true });
    const graph = await makeGraph(database, chain(2, template));
    const inputs = [];
    for (let index = 0; index < 3; index++) inputs.push((await upload(database, graph, 'input')).output.id);
    const task = (await claim(database, runner('a'), template))!;
    const held = (await renewLease(database, { ...runner('a'), taskId: task.taskId }))!;
    const page = { mode: 'since-watermark', afterPosition: 0, limit: 100, cap: 100 } as const;
    expect((await listInputs(database, held, page)).map((input) => input.outputId)).toEqual(inputs);
    expect((await writeOne(database, runner('a'), graph, task, 'o1', inputs[1])).kind).toBe('created');
    expect(await stateOf(database, graph, 'n2')).toBe(nodeStateCodes.Pending);
    expect(await writeOne(database, runner('a'), graph, task, 'o2', inputs[0])).toMatchObject({
      why: 'watermark-regression',
    });
    expect(await writeOne(database, runner('a'), graph, task, 'o3', 999_999)).toMatchObject({
      why: 'watermark-unknown-input',
    });
    expect(
      await writeWatermark(database, { ...runner('a'), taskId: task.taskId }, inputs[2]!, { seen: 3 }),
    ).toMatchObject({
      kind: 'moved',
      pendingInputs: 0,
    });
    const outputs = await database.query('select 1 from node_output where node_instance_id = $1', [
      graph.nodes.n1,
    ]);
    expect(outputs).toHaveLength(1);
  });

  test('hasMore makes a follow-up after a step of the watermark, and none without', async () => {
    const template = await ownTemplate({ incremental: true });
    const graph = await makeGraph(database, chain(1, template));
    const first = (await upload(database, graph, 'input')).output.id;
    await upload(database, graph, 'input');
    const task = (await claim(database, runner('a'), template))!;
    await writeOne(database, runner('a'), graph, task, 'o1', first);
    const more = { ...completed, hasMore: true };
    expect(
      await endTask(database, { ...runner('a'), taskId: task.taskId }, more, { digest: 'm', jitter: 0 }),
    ).toMatchObject({
      reply: { nodeState: 'Pending', followUp: true },
    });
    const followUp = (await claim(database, runner('a'), template))!;
    expect(followUp.reason).toBe('follow-up');
    await writeOne(database, runner('a'), graph, followUp, 'o2');
    expect(
      await endTask(database, { ...runner('a'), taskId: followUp.taskId }, more, { digest: 'm', jitter: 0 }),
    ).toMatchObject({
      reply: { nodeState: 'Succeeded', followUp: false },
    });
  });

  test('a run keeps reading the version of an output that it was claimed with', async () => {
    const template = await ownTemplate();
    const graph = await makeGraph(database, chain(1, template));
    const old = await upload(database, graph, 'input', 'same');
    const task = (await claim(database, runner('a'), template))!;
    const replaced = await upload(database, graph, 'input', 'same');
    expect(replaced).toMatchObject({ outcome: 'replaced', output: { id: old.output.id } });
    const held = (await renewLease(database, { ...runner('a'), taskId: task.taskId }))!;
    const page = { mode: 'all', afterPosition: 0, limit: 100, cap: 100 } as const;
    expect(await listInputs(database, held, page)).toMatchObject([{ objectKey: old.output.objectKey }]);
    await finish(database, runner('a'), graph, task);
    const next = (await claim(database, runner('a'), template))!;
    const heldNext = (await renewLease(database, { ...runner('a'), taskId: next.taskId }))!;
    expect(await listInputs(database, heldNext, page)).toMatchObject([
      { objectKey: replaced.output.objectKey },
    ]);
  });
});
