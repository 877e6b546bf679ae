import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nodeStateCodes } from '../../domain/node-state.ts';
import { advanceSession } from '../../store/advance.ts';
import { arrive, giveUpHeldTask, undoClaim } from '../../store/claims.ts';
import { Database } from '../../store/database.ts';
import { endOverdueClaims } from '../../store/leases.ts';
import { endTask } from '../../store/outcomes.ts';
import { beatTask, listInputs, touchTask } from '../../store/task-reads.ts';
import { writeWatermark } from '../../store/task-writes.ts';
import {
  chain,
  claim,
  finish,
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
  database = await Database.open({ databaseUrl: platform.databaseUrl, poolSize: 40 });
});
afterAll(() => database.close());

/** The token of the present test: each has its own, as each has its own node template. */
let token = 'token';
const runner = (instanceId: string, holder = token) => ({ holder, instanceId });
const completed = { kind: 'complete', outcome: 'completed', hasMore: false } as const;
let templates = 0;

/** A node template that only this test uses, so that tests do not take each other's tasks. */
async function ownTemplate(options: Parameters<typeof outsideTemplate>[2] = {}): Promise<string> {
  templates += 1;
  const name = `outside-${templates}`;
  token = `token-of-${name}`;
  await outsideTemplate(database, name, options);
  return name;
}

async function expireLease(taskId: string) {
  await database.query(
    `update node_claim set lease_until = clock_timestamp() - interval '1 second' where task_id = $1`,
    [taskId],
  );
  await database.query(
    `insert into platform_alive (process_id, beat_at) values (gen_random_uuid(), clock_timestamp())`,
  );
}

describe('a fact takes the next step in its own transaction', () => {
  test('an upload makes its children Pending and claimable at once', async () => {
    const template = await ownTemplate();
    const graph = await makeGraph(database, chain(1, template));
    const result = await upload(database, graph, 'input');
    expect(result.effects.wake).toBe(true);
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

  test('looking at a planned session again changes nothing', async () => {
    const template = await ownTemplate();
    const graph = await makeGraph(database, chain(3, template));
    await upload(database, graph, 'input');
    const first = await advanceSession(database, graph.sessionId);
    const second = await advanceSession(database, graph.sessionId);
    expect(first).toMatchObject({ start: [], lookInMs: 1_000 });
    expect(second).toEqual(first);
  });
});

describe('what the workflow waits for', () => {
  test('an attempt is awaited when it has been held for a second, and its end is then told as awaited', async () => {
    const template = await ownTemplate();
    const graph = await makeGraph(database, chain(1, template));
    await upload(database, graph, 'input');
    const task = (await claim(database, runner('a'), template))!;
    const age = `update node_attempt set started_at = started_at - interval '2 seconds' where run_id = $1`;
    await database.query(age, [task.runId]);
    expect(await advanceSession(database, graph.sessionId)).toMatchObject({
      start: [{ runId: task.runId, attempt: 1, nodeName: 'n1' }],
      lookInMs: null,
    });
    const ended = await finish(database, runner('a'), graph, task);
    expect(ended).toMatchObject({ effects: { wake: true, ended: [{ runId: task.runId, awaited: true }] } });
  });

  test('while the workflow looks again by itself, short runs of outside runners wake nobody', async () => {
    const template = await ownTemplate();
    const graph = await makeGraph(database, chain(2, template));
    await upload(database, graph, 'input');
    await advanceSession(database, graph.sessionId);
    const task = (await claim(database, runner('a'), template))!;
    const ended = await finish(database, runner('a'), graph, task);
    expect(ended).toMatchObject({ effects: { wake: false, ended: [{ awaited: false }] } });
    expect(await advanceSession(database, graph.sessionId)).toMatchObject({
      ended: [{ nodeName: 'n1', attempt: 1, outcome: 'completed' }],
    });
  });

  test('a built-in run is awaited, and so started, at once', async () => {
    const builtin = `builtin-${templates}`;
    await outsideTemplate(database, builtin, { runnerType: 'system' });
    const graph = await makeGraph(database, chain(2, builtin));
    await upload(database, graph, 'input');
    await advanceSession(database, graph.sessionId);
    expect((await advanceSession(database, graph.sessionId))?.start).toMatchObject([{ builtin: true }]);
  });
});

describe('claims', () => {
  test('32 runners racing for 500 runs hold each exactly once', async () => {
    const template = await ownTemplate();
    const nodes = Array.from({ length: 50 }, (_, index) => ({
      name: `n${index}`,
      parents: ['input'],
      template,
    }));
    for (let index = 0; index < 10; index++) {
      const graph = await makeGraph(database, [{ name: 'input', parents: [] }, ...nodes]);
      await upload(database, graph, 'input');
    }
    const held: string[] = [];
    await Promise.all(
      Array.from({ length: 32 }, async (_, index) => {
        for (let turn = 0; ; turn++) {
          const task = await claim(database, runner(`${index}.${turn}`), template);
          if (!task) return;
          held.push(task.runId);
        }
      }),
    );
    expect(held).toHaveLength(500);
    expect(new Set(held).size).toBe(500);
  });

  test('a session with many tasks does not hold up the first task of another', async () => {
    const template = await ownTemplate();
    const many = Array.from({ length: 100 }, (_, index) => ({
      name: `n${index}`,
      parents: ['input'],
      template,
    }));
    const big = await makeGraph(database, [{ name: 'input', parents: [] }, ...many]);
    await upload(database, big, 'input');
    const small = await makeGraph(database, chain(1, template));
    await upload(database, small, 'input');
    let place = 0;
    for (; ; place++) {
      const task = await claim(database, runner(`fair-${place}`), template);
      if (task?.sessionId === small.sessionId) break;
    }
    expect(place).toBeLessThan(30);
  });

  test('of several claims of one instance only the newest can win', async () => {
    const template = await ownTemplate();
    const graph = await makeGraph(database, chain(1, template));
    const older = await arrive(database, runner('same'));
    await arrive(database, runner('same'));
    await upload(database, graph, 'input');
    const { claimNext } = await import('../../store/claims.ts');
    const request = { claimSeq: older.claimSeq, templates: [template], leaseSeconds: 30 };
    expect(await claimNext(database, runner('same'), request)).toBeUndefined();
    expect(await claim(database, runner('same'), template)).toBeDefined();
  });

  test('giving up a task that was never used counts as no attempt, one that was used as a lost lease', async () => {
    const template = await ownTemplate();
    const graph = await makeGraph(database, chain(1, template));
    await upload(database, graph, 'input');
    await claim(database, runner('a'), template);
    await giveUpHeldTask(database, runner('a'));
    const again = (await claim(database, runner('a'), template))!;
    expect(again.attempt).toBe(1);
    await touchTask(database, runner('a'), again.taskId);
    const given = await giveUpHeldTask(database, runner('a'));
    expect(given?.ended).toMatchObject([{ attempt: 1, outcome: 'lost' }]);
    expect(await claim(database, runner('b'), template)).toMatchObject({ attempt: 2 });
  });

  test('a claim that is undone leaves the run as it was', async () => {
    const template = await ownTemplate();
    const graph = await makeGraph(database, chain(1, template));
    await upload(database, graph, 'input');
    const task = (await claim(database, runner('a'), template))!;
    await undoClaim(database, task.taskId);
    expect(await claim(database, runner('b'), template)).toMatchObject({ runId: task.runId, attempt: 1 });
  });
});

describe('the fence', () => {
  test('a runner past its lease writes nothing more, whoever holds the run then', async () => {
    const template = await ownTemplate();
    const graph = await makeGraph(database, chain(1, template));
    await upload(database, graph, 'input');
    const task = (await claim(database, runner('stopped'), template))!;
    await expireLease(task.taskId);
    const everyCall = async () => [
      await touchTask(database, runner('stopped'), task.taskId),
      await beatTask(database, runner('stopped'), task.taskId, {
        phase: null,
        message: null,
        progress: null,
      }),
      (await writeOne(database, runner('stopped'), graph, task)).kind,
      (await endTask(database, runner('stopped'), task.taskId, completed, 'x', 0)).kind,
      (await endTask(database, runner('stopped'), task.taskId, { kind: 'release' }, 'x', 0)).kind,
    ];
    const refused = [undefined, undefined, 'refused', 'refused', 'refused'];
    expect(await everyCall()).toEqual(refused);
    const effects = await endOverdueClaims(database, 10, () => 0);
    expect(effects.flatMap((effect) => effect.ended)).toContainEqual(
      expect.objectContaining({ runId: task.runId, attempt: 1, outcome: 'lost' }),
    );
    const next = (await claim(database, runner('other'), template))!;
    expect(next).toMatchObject({ runId: task.runId, attempt: 2 });
    expect(await everyCall()).toEqual(refused);
    expect(await finish(database, runner('other'), graph, next)).toMatchObject({ kind: 'ended' });
    const [{ count } = { count: -1 }] = await database.query<{ count: number }>(
      'select count(*) as count from node_output where node_instance_id = $1',
      [graph.nodes.n1],
    );
    expect(count).toBe(1);
  });

  test('another token or instance is refused as if there were no such task', async () => {
    const template = await ownTemplate();
    const graph = await makeGraph(database, chain(1, template));
    await upload(database, graph, 'input');
    const task = (await claim(database, runner('a'), template))!;
    for (const other of [runner('b'), runner('a', 'token-2')]) {
      expect(await touchTask(database, other, task.taskId)).toBeUndefined();
      expect(await endTask(database, other, task.taskId, completed, 'x', 0)).toEqual({
        kind: 'refused',
        why: 'task-not-found',
      });
    }
  });

  test('the one who ended a task gets the same reply to the same end, and is told of a different one', async () => {
    const template = await ownTemplate();
    const graph = await makeGraph(database, chain(1, template));
    await upload(database, graph, 'input');
    const task = (await claim(database, runner('a'), template))!;
    const first = await finish(database, runner('a'), graph, task);
    const repeat = await endTask(database, runner('a'), task.taskId, completed, 'completed', 0);
    expect(repeat).toEqual({ kind: 'repeated', reply: first.kind === 'ended' ? first.reply : undefined });
    expect(await endTask(database, runner('a'), task.taskId, { kind: 'release' }, 'release', 0)).toEqual({
      kind: 'refused',
      why: 'task-finished',
    });
  });

  test('completing without an output is refused and ends nothing', async () => {
    const template = await ownTemplate();
    const graph = await makeGraph(database, chain(1, template));
    await upload(database, graph, 'input');
    const task = (await claim(database, runner('a'), template))!;
    expect(await endTask(database, runner('a'), task.taskId, completed, 'x', 0)).toEqual({
      kind: 'refused',
      why: 'output-missing',
    });
    expect(await finish(database, runner('a'), graph, task)).toMatchObject({ kind: 'ended' });
  });
});

describe('ends of attempts', () => {
  test('an error waits for its retry, which the look at its time makes claimable', async () => {
    const template = await ownTemplate();
    const graph = await makeGraph(database, chain(1, template));
    await upload(database, graph, 'input');
    const task = (await claim(database, runner('a'), template))!;
    const failure = { kind: 'fail', category: 'error', reason: 'No luck.' } as const;
    expect(await endTask(database, runner('a'), task.taskId, failure, 'f', 0)).toMatchObject({
      reply: { nodeState: 'Pending', willRetry: true },
    });
    expect(await claim(database, runner('a'), template)).toBeUndefined();
    expect((await advanceSession(database, graph.sessionId))?.due).toMatchObject({
      nodeName: 'n1',
      attempt: 2,
    });
    await database.query(`update node_run set due_at = clock_timestamp() where id = $1`, [task.runId]);
    const look = await advanceSession(database, graph.sessionId);
    expect(look).toMatchObject({ due: null, lookInMs: 1_000 });
    expect(await claim(database, runner('a'), template)).toMatchObject({ attempt: 2, upperPosition: 1 });
  });

  test('a validation failure is final, drops what was staged and triggers no child', async () => {
    const template = await ownTemplate();
    const graph = await makeGraph(database, chain(2, template));
    await upload(database, graph, 'input');
    const task = (await claim(database, runner('a'), template))!;
    await writeOne(database, runner('a'), graph, task);
    const failure = { kind: 'fail', category: 'validation', reason: 'Broken.' } as const;
    expect(await endTask(database, runner('a'), task.taskId, failure, 'f', 0)).toMatchObject({
      reply: { nodeState: 'Failed', willRetry: false, nextAttemptAt: null },
    });
    expect(await stateOf(database, graph, 'n1')).toBe(nodeStateCodes.Failed);
    expect(await stateOf(database, graph, 'n2')).toBe(nodeStateCodes.NeverBegan);
    expect(
      await database.query('select 1 from node_output where node_instance_id = $1', [graph.nodes.n1]),
    ).toEqual([]);
    await upload(database, graph, 'input');
    expect(await claim(database, runner('a'), template)).toMatchObject({ attempt: 1 });
  });

  test('the third lost lease of a run ends it as a time-out', async () => {
    const template = await ownTemplate({ maxAttempts: 10 });
    const graph = await makeGraph(database, chain(1, template));
    await upload(database, graph, 'input');
    for (let loss = 1; loss <= 3; loss++) {
      const task = (await claim(database, runner(`killer-${loss}`), template))!;
      expect(task.attempt).toBe(loss);
      await expireLease(task.taskId);
      await endOverdueClaims(database, 10, () => 0);
    }
    expect(await claim(database, runner('a'), template)).toBeUndefined();
    expect(await stateOf(database, graph, 'n1')).toBe(nodeStateCodes.Failed);
  });

  test('leases are left alone while no API process could have renewed them', async () => {
    const template = await ownTemplate();
    const graph = await makeGraph(database, chain(1, template));
    await upload(database, graph, 'input');
    const task = (await claim(database, runner('a'), template))!;
    await expireLease(task.taskId);
    await database.query('delete from platform_alive');
    await endOverdueClaims(database, 10, () => 0);
    expect(await claim(database, runner('b'), template)).toBeUndefined();
  });

  test('releases count as no attempt and wait from the third one on', async () => {
    const template = await ownTemplate();
    const graph = await makeGraph(database, chain(1, template));
    await upload(database, graph, 'input');
    for (let release = 1; release <= 3; release++) {
      const task = (await claim(database, runner('a'), template))!;
      expect(task.attempt).toBe(1);
      await endTask(database, runner('a'), task.taskId, { kind: 'release' }, 'r', 0);
    }
    expect(await claim(database, runner('a'), template)).toBeUndefined();
    expect((await advanceSession(database, graph.sessionId))?.due).toMatchObject({ attempt: 1 });
  });

  test('no-output succeeds without triggering children; suspended stays until new input', async () => {
    const template = await ownTemplate();
    const graph = await makeGraph(database, chain(2, template));
    await upload(database, graph, 'input');
    const first = (await claim(database, runner('a'), template))!;
    await endTask(database, runner('a'), first.taskId, { ...completed, outcome: 'no-output' }, 'x', 0);
    expect(await stateOf(database, graph, 'n1')).toBe(nodeStateCodes.Succeeded);
    expect(await stateOf(database, graph, 'n2')).toBe(nodeStateCodes.NeverBegan);
    await upload(database, graph, 'input');
    const second = (await claim(database, runner('a'), template))!;
    await endTask(database, runner('a'), second.taskId, { ...completed, outcome: 'suspended' }, 'x', 0);
    expect(await stateOf(database, graph, 'n1')).toBe(nodeStateCodes.Suspended);
    await upload(database, graph, 'input');
    expect(await stateOf(database, graph, 'n1')).toBe(nodeStateCodes.Pending);
  });
});

describe('inputs and the watermark', () => {
  test('an output with a watermark is published with the step; a lower or unknown input is refused and stores nothing', async () => {
    const template = await ownTemplate({ incremental: true });
    const graph = await makeGraph(database, chain(2, template));
    const inputs = [];
    for (let index = 0; index < 3; index++) inputs.push((await upload(database, graph, 'input')).output.id);
    const task = (await claim(database, runner('a'), template))!;
    const held = (await touchTask(database, runner('a'), task.taskId))!;
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
    expect(await writeWatermark(database, runner('a'), task.taskId, inputs[2]!, { seen: 3 })).toMatchObject({
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
    expect(await endTask(database, runner('a'), task.taskId, more, 'm', 0)).toMatchObject({
      reply: { nodeState: 'Pending', followUp: true },
    });
    const followUp = (await claim(database, runner('a'), template))!;
    expect(followUp.reason).toBe('follow-up');
    await writeOne(database, runner('a'), graph, followUp, 'o2');
    expect(await endTask(database, runner('a'), followUp.taskId, more, 'm', 0)).toMatchObject({
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
    const held = (await touchTask(database, runner('a'), task.taskId))!;
    const page = { mode: 'all', afterPosition: 0, limit: 100, cap: 100 } as const;
    expect(await listInputs(database, held, page)).toMatchObject([{ objectKey: old.output.objectKey }]);
    await finish(database, runner('a'), graph, task);
    const next = (await claim(database, runner('a'), template))!;
    const heldNext = (await touchTask(database, runner('a'), next.taskId))!;
    expect(await listInputs(database, heldNext, page)).toMatchObject([
      { objectKey: replaced.output.objectKey },
    ]);
  });
});
