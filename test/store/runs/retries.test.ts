/** What follows the end of an attempt (decisions 7 and 9); the test sets the times. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { nodeStateCodes } from '../../../domain/runs/node-state.ts';
import type { RunnerIdentity } from '../../../store/runners/holder.ts';
import { renewLease } from '../../../store/runners/lease.ts';
import type { ClaimedTask } from '../../../store/runs/claims.ts';
import { endTask, type TaskEnd } from '../../../store/runs/end-task.ts';
import { endOverdueClaims } from '../../../store/runs/expire-leases.ts';
import { findNodeRun } from '../../../store/runs/node-runs.ts';
import { reconcileSession } from '../../../store/runs/reconcile-session.ts';
import { requestReprocess } from '../../../store/runs/reprocess.ts';
import { listInputs } from '../../../store/runs/task-inputs.ts';
import { writeWatermark } from '../../../store/runs/watermark.ts';
import { databaseStage } from '../../support/databases.ts';
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
} from '../../support/graph.ts';

const { database } = await databaseStage(8);
beforeAll(async () => {
  await database.query('insert into platform_process (process_id, heartbeat_at) values ($1, now())', [
    randomUUID(),
  ]);
});

const completed = { kind: 'complete', outcome: 'completed', hasMore: false } as const;
const holders = new Map<string, RunnerIdentity>();
const holderOf = (task: ClaimedTask) => holders.get(task.taskId)!;

async function setUp(options: Parameters<typeof outsideTemplate>[2] = {}) {
  const template = `retried-${randomUUID()}`;
  await outsideTemplate(database, template, options);
  const graph = await makeGraph(database, chain(1, template));
  await upload(database, graph, 'input');
  return { template, graph };
}

async function acquire(template: string): Promise<ClaimedTask> {
  const holder = { holder: 'token', instanceId: randomUUID() };
  const task = (await claim(database, holder, template))!;
  holders.set(task.taskId, holder);
  return task;
}

const end = (task: ClaimedTask, how: TaskEnd, jitter = 0) =>
  endTask(database, { ...holderOf(task), taskId: task.taskId }, how, { digest: JSON.stringify(how), jitter });

/** Moves a time of the task's claim into the past, and runs the lease loop. */
async function overdue(task: ClaimedTask, column: 'lease_until' | 'timeout_at', jitter = 0) {
  await database.query('update platform_process set heartbeat_at = clock_timestamp()');
  await database.query(
    `update node_claim set ${column} = clock_timestamp() - interval '1 second' where task_id = $1`,
    [task.taskId],
  );
  return endOverdueClaims(database, 10, () => jitter);
}

async function waitOf(graph: Graph): Promise<number | undefined> {
  return (await reconcileSession(database, graph.sessionId))?.due?.dueInMs;
}

async function timePasses(graph: Graph) {
  await database.query(`update node_run set due_at = clock_timestamp() where session_id = $1`, [
    graph.sessionId,
  ]);
  await reconcileSession(database, graph.sessionId);
}

async function detailsOf(graph: Graph): Promise<string> {
  const [node] = await database.query<{ details: string }>(
    'select status_details as details from node_instance where id = $1',
    [graph.nodes.n1],
  );
  return node!.details;
}

describe('timeoutSeconds of the node template', () => {
  test('ends a longer attempt as a time-out, despite heartbeats', async () => {
    const { template, graph } = await setUp({ timeoutSeconds: 60, maxAttempts: 2 });
    const first = await acquire(template);
    await renewLease(database, { ...holderOf(first), taskId: first.taskId });
    await overdue(first, 'timeout_at');
    expect(await waitOf(graph)).toBeGreaterThan(4_000);
    const why = 'timeout: The attempt exceeded the time limit of its node template.';
    expect(await detailsOf(graph)).toBe(`Attempt 1 of 2 failed, waiting for the next: ${why}`);
    expect(await end(first, completed)).toEqual({ kind: 'refused', why: 'task-not-found' });
    await timePasses(graph);
    const second = await acquire(template);
    await overdue(second, 'timeout_at');
    expect(await stateOf(database, graph, 'n1')).toBe(nodeStateCodes.Failed);
    expect(await findNodeRun(database, first.runId)).toMatchObject({
      state: 'failed',
      statusDetails: why,
      attempts: [
        { outcome: 'failed', category: 'timeout' },
        { outcome: 'failed', category: 'timeout' },
      ],
    });
  });

  test('counts each attempt for itself, and no time where there is none', async () => {
    const { template } = await setUp({ timeoutSeconds: 60 });
    const task = await acquire(template);
    const timeoutOf = async (taskId: string) => {
      const [row] = await database.query<{ seconds: number | null }>(
        `select extract(epoch from timeout_at - claimed_at)::float8 as seconds from node_claim where task_id = $1`,
        [taskId],
      );
      return row!.seconds;
    };
    expect(await timeoutOf(task.taskId)).toBeCloseTo(60, 1);
    const endless = await setUp();
    expect(await timeoutOf((await acquire(endless.template)).taskId)).toBeNull();
  });
});

describe('back-off', () => {
  test('doubles from 5 seconds, is jittered, and its node shows attempt, limit and reason', async () => {
    const { template, graph } = await setUp({ maxAttempts: 5 });
    const reports = [
      ['error', 0, 5_000],
      ['memory', 0, 10_000],
      ['timeout', 0, 20_000],
      ['error', 0.999, 20_000],
    ] as const;
    for (const [index, [category, jitter, delayMs]] of reports.entries()) {
      const task = await acquire(template);
      const ended = await end(task, { kind: 'fail', category, reason: 'Why.' }, jitter);
      expect(ended).toMatchObject({ kind: 'ended', reply: { willRetry: true, nodeState: 'Pending' } });
      const waitMs = (await waitOf(graph))!;
      expect(waitMs).toBeLessThanOrEqual(delayMs + 50);
      expect(waitMs).toBeGreaterThan(delayMs - 3_000);
      expect(await stateOf(database, graph, 'n1')).toBe(nodeStateCodes.Pending);
      expect(await detailsOf(graph)).toBe(
        `Attempt ${index + 1} of 5 failed, waiting for the next: ${category}: Why.`,
      );
      await timePasses(graph);
    }
    const last = await end(await acquire(template), { kind: 'fail', category: 'error', reason: 'Why.' });
    expect(last).toMatchObject({ reply: { willRetry: false, nodeState: 'Failed', nextAttemptAt: null } });
    expect(await detailsOf(graph)).toBe('error: Why.');
  });

  test('of releases starts with the third: 1, 2, 4 seconds, and each has its reason', async () => {
    const { template, graph } = await setUp();
    const waits: Array<number | undefined> = [];
    for (let release = 1; release <= 5; release++) {
      const task = await acquire(template);
      expect(task.attempt).toBe(1);
      await end(task, { kind: 'release', reason: `shutdown ${release}` });
      expect(await detailsOf(graph)).toBe(`Released: shutdown ${release}`);
      const waitMs = await waitOf(graph);
      waits.push(waitMs && Math.ceil(waitMs / 1_000));
      await timePasses(graph);
    }
    expect(waits).toEqual([undefined, undefined, 1, 2, 4]);
    const last = await acquire(template);
    expect(await finish(database, holderOf(last), graph, last)).toMatchObject({ kind: 'ended' });
  });
});

describe('a lost lease', () => {
  test('in the last attempt ends the run as a time-out; an earlier one is retried at once', async () => {
    const { template, graph } = await setUp({ maxAttempts: 2 });
    const first = await acquire(template);
    await overdue(first, 'lease_until');
    expect(await stateOf(database, graph, 'n1')).toBe(nodeStateCodes.Pending);
    const second = await acquire(template);
    expect(second).toMatchObject({ runId: first.runId, attempt: 2 });
    await overdue(second, 'lease_until');
    expect(await detailsOf(graph)).toBe('timeout: The lease ended without a call from the runner.');
    expect(await findNodeRun(database, first.runId)).toMatchObject({
      state: 'failed',
      attempts: [
        { outcome: 'lost', category: 'timeout' },
        { outcome: 'failed', category: 'timeout' },
      ],
    });
  });
});

describe('a suspended node', () => {
  test('stays suspended, also after a reconcile, until a reprocess', async () => {
    const { template, graph } = await setUp();
    await end(await acquire(template), {
      ...completed,
      outcome: 'suspended',
      statusDetails: 'Waits for laps.',
    });
    await reconcileSession(database, graph.sessionId);
    expect(await stateOf(database, graph, 'n1')).toBe(nodeStateCodes.Suspended);
    expect(await detailsOf(graph)).toBe('Waits for laps.');
    await requestReprocess(database, graph.nodes.n1!);
    expect(await stateOf(database, graph, 'n1')).toBe(nodeStateCodes.Pending);
    expect(await acquire(template)).toMatchObject({ reason: 'reprocess', attempt: 1 });
  });
});

test('outputs without an identifier, published before an attempt died, are not taken for those of the next', async () => {
  const { template, graph } = await setUp({ incremental: true });
  const second = (await upload(database, graph, 'input')).output.id;
  const task = await acquire(template);
  const [first, ...others] = await inputsOf(task);
  expect(others).toEqual([second]);
  await writeUnnamed(graph, task, first!);
  await overdue(task, 'lease_until');
  const again = await acquire(template);
  expect(await writeUnnamed(graph, again, second)).toMatchObject({ kind: 'created' });
  expect(await publishedOf(graph)).toEqual([`${task.runId}.1`, `${task.runId}.2`]);
});

test('an output without an identifier that was staged after the last move is met again, one before it is not', async () => {
  const { template, graph } = await setUp({ incremental: true });
  const second = (await upload(database, graph, 'input')).output.id;
  const task = await acquire(template);
  const [first] = await inputsOf(task);
  await writeOne(database, holderOf(task), graph, task, null);
  expect(await passInput(task, first!)).toMatchObject({ kind: 'moved' });
  await writeOne(database, holderOf(task), graph, task, null);
  await overdue(task, 'lease_until');
  const again = await acquire(template);
  expect(await writeOne(database, holderOf(again), graph, again, null)).toMatchObject({ kind: 'existing' });
  expect(await writeUnnamed(graph, again, second)).toMatchObject({ kind: 'created' });
  expect((await end(again, completed)).kind).toBe('ended');
  expect(await publishedOf(graph)).toEqual([1, 2, 3].map((number) => `${task.runId}.${number}`));
});

test('an output without an identifier that the present watermark has published is not taken for that of the next input', async () => {
  const { template, graph } = await setUp({ incremental: true });
  const second = (await upload(database, graph, 'input')).output.id;
  const task = await acquire(template);
  const [first] = await inputsOf(task);
  await passInput(task, first!);
  await writeOne(database, holderOf(task), graph, task, null);
  await passInput(task, first!);
  await overdue(task, 'lease_until');
  const again = await acquire(template);
  expect(await writeUnnamed(graph, again, second)).toMatchObject({ kind: 'created' });
  expect(await publishedOf(graph)).toEqual([1, 2].map((number) => `${task.runId}.${number}`));
});

const passInput = (task: ClaimedTask, inputId: number) =>
  writeWatermark(database, { ...holderOf(task), taskId: task.taskId }, inputId, undefined);

async function publishedOf(graph: Graph): Promise<string[]> {
  const outputs = await database.query<{ name: string }>(
    `select output_identifier as name from node_output
      where node_instance_id = $1 and position is not null order by position`,
    [graph.nodes.n1],
  );
  return outputs.map(({ name }) => name);
}

const writeUnnamed = (graph: Graph, task: ClaimedTask, watermark: number) =>
  writeOne(database, holderOf(task), graph, task, null, watermark);

async function inputsOf(task: ClaimedTask): Promise<number[]> {
  const held = (await renewLease(database, { ...holderOf(task), taskId: task.taskId }))!;
  const page = { mode: 'all', afterPosition: 0, limit: 100, cap: 100 } as const;
  return (await listInputs(database, held, page)).map(({ outputId }) => outputId);
}
