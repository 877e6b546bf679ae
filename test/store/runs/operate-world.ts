/** Shared by the tests of operators' work on runs: graphs of a node template for each test, and their tasks. */
import { randomUUID } from 'node:crypto';
import type { Database } from '../../../store/connection/database.ts';
import type { RunnerIdentity } from '../../../store/runners/holder.ts';
import { renewLease } from '../../../store/runners/lease.ts';
import type { ClaimedTask } from '../../../store/runs/claims.ts';
import { endTask, type TaskEnd } from '../../../store/runs/end-task.ts';
import { reconcileSession } from '../../../store/runs/reconcile-session.ts';
import { type InputMode, listInputs } from '../../../store/runs/task-inputs.ts';
import {
  chain,
  claim,
  finish,
  type Graph,
  makeGraph,
  outsideTemplate,
  upload,
  writeOne,
} from '../../support/graph.ts';

export const completed = { kind: 'complete', outcome: 'completed', hasMore: false } as const;
export const broken = { kind: 'fail', category: 'validation', reason: 'Broken.' } as const;
export const unlucky = { kind: 'fail', category: 'error', reason: 'No luck.' } as const;

export type OperateWorld = ReturnType<typeof operateWorld>;

export function operateWorld(database: Database) {
  /** Every task has its own instance. */
  const holders = new Map<string, RunnerIdentity>();
  const holderOf = (task: { readonly taskId: string }) => holders.get(task.taskId)!;

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
  const acquire = async (template: string) => (await tryTake(template))!;
  const end = (task: ClaimedTask, how: TaskEnd) =>
    endTask(database, { ...holderOf(task), taskId: task.taskId }, how, {
      digest: JSON.stringify(how),
      jitter: 0,
    });
  const write = (graph: Graph, task: ClaimedTask, identifier?: string, watermark?: number) =>
    writeOne(database, holderOf(task), graph, task, identifier, watermark);
  const finishTask = (graph: Graph, task: ClaimedTask) => finish(database, holderOf(task), graph, task);
  const uploadId = async (graph: Graph) => (await upload(database, graph, 'input')).output.id;

  /** A node whose only run has failed for good. */
  async function failedGraph(options: Parameters<typeof setUp>[0] = {}, length = 1) {
    const { template, graph } = await setUp(options, length);
    await upload(database, graph, 'input');
    const task = await acquire(template);
    await end(task, broken);
    return { template, graph, runId: task.runId };
  }

  async function inputsOf(task: ClaimedTask, mode: InputMode = 'since-watermark') {
    const held = (await renewLease(database, { ...holderOf(task), taskId: task.taskId }))!;
    const inputs = await listInputs(database, held, { mode, afterPosition: 0, limit: 500, cap: 500 });
    return inputs.map((input) => input.outputId);
  }

  async function runsOf(graph: Graph) {
    return database.query<{ id: string; state: string }>(
      'select id, state from node_run where session_id = $1 order by queue_time',
      [graph.sessionId],
    );
  }

  /** The time has come for which the run waits. */
  async function goOn(graph: Graph, runId: string) {
    await database.query(`update node_run set due_at = clock_timestamp() where id = $1`, [runId]);
    await reconcileSession(database, graph.sessionId);
  }

  return {
    database,
    holderOf,
    setUp,
    tryTake,
    acquire,
    end,
    write,
    finishTask,
    uploadId,
    failedGraph,
    inputsOf,
    runsOf,
    goOn,
  };
}
