/** The watermark of a task's node: what is consumed and what is published move together (decisions, section 9). */

import type { Database, Queryable } from '../connection/database.ts';
import { failpoint } from '../connection/failpoint.ts';
import { jsonOrNull } from '../connection/parameters.ts';
import { Refused } from '../connection/refused.ts';
import { publishStaged, type StagedPublication } from '../outputs/publish-output.ts';
import type { TaskHolder } from '../runners/holder.ts';
import type { HeldTask } from '../runners/lease.ts';
import { changed, type LockedSession, unchanged } from './change-session.ts';
import { planSession } from './plan-session.ts';
import { saveStateBefore } from './state-history.ts';
import { countPendingOfTask, findInput, isConsumed } from './task-inputs.ts';
import { type TaskWrite, type WriteRefusal, writeTaskAndSession } from './write-task.ts';

export type WatermarkWrite =
  | { readonly kind: 'moved'; readonly watermark: number | null; readonly pendingInputs: number }
  | { readonly kind: 'refused'; readonly why: WriteRefusal };

/** Advances the watermark and publishes what the run has staged. A repeat of the present watermark does the same. */
export async function writeWatermark(
  database: Database,
  caller: TaskHolder,
  inputId: number,
  state: Record<string, unknown> | undefined,
): Promise<WatermarkWrite> {
  const written = await writeTaskAndSession<WatermarkWrite>(database, caller, async (held, session) => {
    const { position, published } = await moveWatermark(held, session, inputId, state);
    const pendingInputs = await countPendingOfTask(held.tx, { ...held.task, watermarkPosition: position });
    const moved = { kind: 'moved', watermark: inputId, pendingInputs } as const;
    return published ? changed(moved) : unchanged(moved);
  });
  await failpoint('watermark-committed');
  return written;
}

/**
 * The node's own watermark follows that of a reprocess run, which may be behind it for a while, but never falls. A run
 * over chosen inputs leaves it: there may be others below that no run has consumed. Inputs that an earlier run rejected
 * are no longer rejected once they are consumed.
 */
const moveStatement = `
  with run as (
    update node_run
       set reprocess_position = case when reprocess_position is null then null else $2::bigint end,
           reprocess_output_id = case when reprocess_position is null then null else $3::bigint end,
           generated_name_start = (select c.generated_name_count from node_claim c where c.task_id = $6)
     where id = $5
    returning node_instance_id, upper_position, input_ids
  ), accepted as (
    delete from rejected_input j using run
     where j.node_instance_id = run.node_instance_id
       and ${isConsumed('j.output_id', { run: 'run', above: '$9', upTo: '$2' })}
  )
  update node_instance n
     set watermark_output_id = case when run.input_ids is null and $2 >= n.watermark_position
                                    then $3 else n.watermark_output_id end,
         watermark_position = case when run.input_ids is null
                                   then greatest(n.watermark_position, $2) else n.watermark_position end,
         runner_state = coalesce($4::jsonb, n.runner_state),
         newest_position = coalesce($7, n.newest_position), newest_output_id = coalesce($8, n.newest_output_id)
    from run where n.id = $1`;

interface WatermarkMove {
  /** The position of the run's watermark, afterwards. */
  readonly position: number;
  /** Undefined when nothing was staged. */
  readonly published: StagedPublication | undefined;
}

/**
 * Moves the watermark and publishes all that the run has staged: what is consumed and what is published move together,
 * so that no end of the task leaves an input consumed without its result. A repeat of the present watermark publishes
 * what has been staged since. Runs that the published outputs make due are planned with it.
 * @param state of the node, saved with it; undefined leaves what is stored
 */
export async function moveWatermark(
  { tx, task }: TaskWrite,
  session: LockedSession,
  inputId: number,
  state?: Record<string, unknown> | undefined,
): Promise<WatermarkMove> {
  const position = await checkWatermark(tx, task, inputId);
  const published = await publishStaged(tx, session, task.runId);
  if (state !== undefined) await saveStateBefore(tx, task.taskId);
  await tx.query(moveStatement, [
    task.nodeInstanceId,
    position,
    inputId,
    jsonOrNull(state),
    task.runId,
    task.taskId,
    published?.newest.position ?? null,
    published?.newest.id ?? null,
    task.watermarkPosition,
  ]);
  if (published) await planSession(tx, session, task.nodeInstanceId);
  return { position, published };
}

/** The position of an input to which the watermark may go. Throws the refusal when it may not. */
export async function checkWatermark(database: Queryable, task: HeldTask, inputId: number): Promise<number> {
  const input = await findInput(database, task, inputId);
  // The present one is no input of a reprocess of chosen inputs that begins above it.
  const position =
    input?.position ?? (inputId === task.watermarkOutputId ? task.watermarkPosition : undefined);
  if (position === undefined) throw new Refused<WriteRefusal>('watermark-unknown-input');
  if (position < task.watermarkPosition) throw new Refused<WriteRefusal>('watermark-regression');
  return position;
}
