/**
 * Inputs that runners reject (additions, section 1). In an incremental node a rejection is a move of the watermark and
 * counts at once. In any other node it belongs to the task and counts when the task completes. An input is no longer
 * rejected once a later run of the node has consumed it.
 */
import type { FailureCategory } from '../../domain/runs/run-plan.ts';
import type { Database, Queryable, Tx } from '../connection/database.ts';
import { failpoint } from '../connection/failpoint.ts';
import { Refused } from '../connection/refused.ts';
import type { TaskHolder } from '../runners/holder.ts';
import { type Change, changed, type LockedSession, unchanged } from './change-session.ts';
import { countPendingOfTask, findInput, isConsumed } from './task-inputs.ts';
import { moveWatermark, type WatermarkWrite } from './watermark.ts';
import { type TaskWrite, type WriteRefusal, writeTaskAndSession } from './write-task.ts';

interface Rejection {
  readonly inputId: number;
  readonly category: FailureCategory;
  readonly reason: string;
}

/** Rejects an input of a held task; the first rejection of it stays. Answers with the watermark. */
export async function rejectInput(
  database: Database,
  caller: TaskHolder,
  rejection: Rejection,
): Promise<WatermarkWrite> {
  const written = await writeTaskAndSession<WatermarkWrite>(database, caller, (held, session) =>
    held.task.incremental ? rejectAndMove(held, session, rejection) : rejectWithTask(held, rejection),
  );
  await failpoint('watermark-committed');
  return written;
}

async function rejectWithTask({ tx, task }: TaskWrite, { inputId, category, reason }: Rejection) {
  if ((await findInput(tx, task, inputId)) === undefined)
    throw new Refused<WriteRefusal>('watermark-unknown-input');
  await tx.query(
    `insert into task_rejection (task_id, output_id, category, reason) values ($1, $2, $3, $4)
     on conflict do nothing`,
    [task.taskId, inputId, category, reason],
  );
  const pendingInputs = await countPendingOfTask(tx, task);
  return unchanged({ kind: 'moved', watermark: task.watermarkOutputId, pendingInputs } as const);
}

async function rejectAndMove(
  held: TaskWrite,
  session: LockedSession,
  { inputId, category, reason }: Rejection,
): Promise<Change<WatermarkWrite>> {
  const { tx, task } = held;
  const known = await tx.query(
    'select 1 from rejected_input where node_instance_id = $1 and output_id = $2 and run_id = $3',
    [task.nodeInstanceId, inputId, task.runId],
  );
  const isRepeat = known.length > 0;
  if (isRepeat && task.watermarkOutputId !== inputId) {
    const pendingInputs = await countPendingOfTask(tx, task);
    return unchanged({ kind: 'moved', watermark: task.watermarkOutputId, pendingInputs });
  }
  const { position, published } = await moveWatermark(held, session, inputId);
  // The input is consumed already, and its result may be published; or it is none of the chosen ones of a reprocess.
  if (!isRepeat && position === task.watermarkPosition) {
    const isInput = (await findInput(tx, task, inputId)) !== undefined;
    throw new Refused<WriteRefusal>(isInput ? 'watermark-regression' : 'watermark-unknown-input');
  }
  if (!isRepeat) {
    void tx.pipelined(
      `insert into rejected_input (node_instance_id, output_id, run_id, attempt, category, reason)
       values ($1, $2, $3, $4, $5, $6) on conflict (node_instance_id, output_id) do update set ${excluded}`,
      [task.nodeInstanceId, inputId, task.runId, task.attempt, category, reason],
    );
  }
  const pendingInputs = await countPendingOfTask(tx, { ...task, watermarkPosition: position });
  const moved = { kind: 'moved', watermark: inputId, pendingInputs } as const;
  return published || !isRepeat ? changed(moved) : unchanged(moved);
}

const excluded = `
  run_id = excluded.run_id, attempt = excluded.attempt, category = excluded.category, reason = excluded.reason,
  rejected_at = excluded.rejected_at`;

/** Whether the end of a task concerns rejections: {@link settleRejections}. The parameters are SQL expressions. */
export const concernsRejections = (taskId: string, nodeInstanceId: string) => `
  (exists (select from task_rejection j where j.task_id = ${taskId})
    or exists (select from rejected_input j where j.node_instance_id = ${nodeInstanceId}))`;

/**
 * A task of a node that is not incremental has completed: what it rejected counts, and after a success the inputs that
 * it did not reject are no longer rejected. Before the run gets its lineage, which leaves out what the run rejected.
 */
export async function settleRejections(tx: Tx, taskId: string, isSuccess: boolean): Promise<void> {
  await tx.query(settleStatement, [taskId, isSuccess]);
}

const settleStatement = `
  with task as (
    select c.task_id, c.run_id, c.attempt, c.watermark_position, r.upper_position, r.input_ids, r.node_instance_id
      from node_claim c join node_run r on r.id = c.run_id where c.task_id = $1
  ), accepted as (
    delete from rejected_input j using task
     where $2 and j.node_instance_id = task.node_instance_id
       and ${isConsumed('j.output_id', { run: 'task', above: 'task.watermark_position', upTo: 'task.upper_position' })}
       and not exists (select from task_rejection x where x.task_id = task.task_id and x.output_id = j.output_id)
  )
  insert into rejected_input (node_instance_id, output_id, run_id, attempt, category, reason, rejected_at)
  select task.node_instance_id, x.output_id, task.run_id, task.attempt, x.category, x.reason, x.rejected_at
    from task join task_rejection x on x.task_id = task.task_id
   where exists (select from node_output o where o.id = x.output_id)
  on conflict (node_instance_id, output_id) do update set ${excluded}`;

/** How many inputs of a node are rejected. @param node an SQL expression: its id */
export const rejectedCount = (node: string) =>
  `(select count(*) from rejected_input j where j.node_instance_id = ${node})`;

/** Why the newest run of a node, and the runs that it follows up, rejected inputs, in their order. */
export async function reasonsSinceInput(
  database: Queryable,
  { nodeInstanceId }: { readonly nodeInstanceId: number },
  limit: number,
): Promise<string[]> {
  const rows = await database.query<{ reason: string }>(
    `select j.reason from rejected_input j join node_run r on r.id = j.run_id
      where j.node_instance_id = $1 and r.queue_time >= (
              select max(f.queue_time) from node_run f
               where f.node_instance_id = $1 and f.reason <> 'follow-up')
      order by j.rejected_at, j.output_id limit $2`,
    [nodeInstanceId, limit],
  );
  return rows.map(({ reason }) => reason);
}

export interface RejectedInput {
  readonly outputId: number;
  readonly nodeInstanceId: number;
  readonly nodeName: string;
  readonly outputIdentifier: string;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly contentType: string | null;
  readonly sizeBytes: number;
  readonly category: FailureCategory;
  readonly reason: string;
  readonly runId: string;
  readonly attempt: number;
  readonly rejectedAt: Date;
}

/** One page of a node's rejected inputs, the newest first; undefined when there is no such node. */
export async function listRejectedInputs(
  database: Queryable,
  nodeInstanceId: number,
  page: { readonly number: number; readonly size: number },
): Promise<{ readonly rows: readonly RejectedInput[]; readonly totalCount: number } | undefined> {
  const [node] = await database.query<{ count: number }>(
    `select ${rejectedCount('n.id')} as count from node_instance n where n.id = $1`,
    [nodeInstanceId],
  );
  if (node === undefined) return undefined;
  const rows = await database.query<RejectedInput>(
    `select j.output_id, o.node_instance_id, n.name as node_name, o.output_identifier, o.metadata, o.content_type,
            o.size_bytes, j.category, j.reason, j.run_id, j.attempt, j.rejected_at
       from rejected_input j join node_output o on o.id = j.output_id join node_instance n on n.id = o.node_instance_id
      where j.node_instance_id = $1 order by j.rejected_at desc, j.output_id desc offset $2 limit $3`,
    [nodeInstanceId, (page.number - 1) * page.size, page.size],
  );
  return { rows, totalCount: node.count };
}
