/** Shared by the tests of reprocesses: sessions with one outside node, and a runner of its tasks. */
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Database } from '../../../store/connection/database.ts';
import { renewLease } from '../../../store/runners/lease.ts';
import type { ClaimedTask } from '../../../store/runs/claims.ts';
import { endTask, type TaskEnd } from '../../../store/runs/end-task.ts';
import { type InputMode, listInputs } from '../../../store/runs/task-inputs.ts';
import { writeWatermark } from '../../../store/runs/watermark.ts';
import {
  chain,
  claim,
  finish,
  type Graph,
  type GraphNode,
  makeGraph,
  outsideTemplate,
  upload,
} from '../../support/graph.ts';

export const runner = { holder: 'token', instanceId: 'runner' };
export const broken = { kind: 'fail', category: 'validation', reason: 'Broken.' } as const;

export function reprocessWorld(database: Database) {
  async function template(options: { incremental?: boolean; reprocess?: 'latest' | 'all' } = {}) {
    const name = `outside-${randomUUID()}`;
    await outsideTemplate(database, name, options);
    await database.query('update node_template set reprocess = $2 where name = $1', [
      name,
      options.reprocess ?? 'latest',
    ]);
    return name;
  }

  async function setUp(options: Parameters<typeof template>[0] = {}, nodes?: (name: string) => GraphNode[]) {
    const name = await template(options);
    return { name, graph: await makeGraph(database, nodes?.(name) ?? chain(1, name)) };
  }

  const uploadId = async (graph: Graph, node = 'input', identifier: string | null = null) =>
    (await upload(database, graph, node, identifier)).output.id;

  async function uploadIds(graph: Graph): Promise<number[]> {
    const rows = await database.query<{ id: number }>(
      'select id from node_output where node_instance_id = $1 order by id',
      [graph.nodes.input],
    );
    return rows.map(({ id }) => id);
  }

  async function inputsOf(task: ClaimedTask, mode: InputMode = 'since-watermark') {
    const held = (await renewLease(database, { ...runner, taskId: task.taskId }))!;
    const inputs = await listInputs(database, held, { mode, afterPosition: 0, limit: 500, cap: 500 });
    return inputs.map((input) => input.outputId);
  }

  const move = (task: ClaimedTask, inputId: number) =>
    writeWatermark(database, { ...runner, taskId: task.taskId }, inputId, undefined);
  const end = (task: ClaimedTask, how: TaskEnd) =>
    endTask(database, { ...runner, taskId: task.taskId }, how, { digest: JSON.stringify(how), jitter: 0 });

  /** Claims the next task and completes it with an output, moving the watermark over all of its inputs. */
  async function runOnce(graph: Graph, name: string, incremental: boolean): Promise<number[]> {
    const task = (await claim(database, runner, name))!;
    const inputs = await inputsOf(task);
    if (incremental) for (const id of inputs) expect(await move(task, id)).toMatchObject({ kind: 'moved' });
    expect(await finish(database, runner, graph, task)).toMatchObject({ kind: 'ended' });
    return inputs;
  }

  const nodeWatermark = async (graph: Graph) => {
    const [row] = await database.query<{ position: number; outputId: number | null }>(
      `select watermark_position as position, watermark_output_id as output_id from node_instance where id = $1`,
      [graph.nodes.n1],
    );
    return row!;
  };

  return { template, setUp, uploadId, uploadIds, inputsOf, move, end, runOnce, nodeWatermark };
}
