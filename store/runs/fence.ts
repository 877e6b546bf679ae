/** The fence of every write of a task's holder, and how a write is refused. */
import type { Tx } from '../connection/database.ts';
import type { RunnerIdentity } from './claims.ts';
import { type HeldTask, touchTask } from './task-inputs.ts';

export type WriteRefusal =
  | 'task-not-found'
  | 'upload-not-found'
  | 'watermark-regression'
  | 'watermark-unknown-input';

/** Thrown inside the transaction: a refused write leaves nothing behind. */
export class Refusal extends Error {
  readonly why: WriteRefusal;
  constructor(why: WriteRefusal) {
    super(why);
    this.why = why;
  }
}

/** Tells a {@link Refusal} that `work` throws as a result. */
export async function refusable<T>(
  work: () => Promise<T>,
): Promise<T | { readonly kind: 'refused'; readonly why: WriteRefusal }> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal) return { kind: 'refused', why: error.why };
    throw error;
  }
}

/** The run of task $1. */
export const runOfTask = 'select c.run_id from node_claim c where c.task_id = $1';

/**
 * The held task, its run and then its claim locked until the transaction ends: the order in which an end of the task
 * locks them. Throws the refusal when the caller does not hold it.
 */
export async function fence(tx: Tx, identity: RunnerIdentity, taskId: string): Promise<HeldTask> {
  void tx.ahead(`select 1 from node_run r where r.id = (${runOfTask}) for update`, [taskId]);
  const task = await touchTask(tx, identity, taskId);
  if (!task) throw new Refusal('task-not-found');
  return task;
}
