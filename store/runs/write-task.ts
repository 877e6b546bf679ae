/** The transaction in which the holder of a task writes: fenced, and refused as a whole. */
import type { Database, Tx } from '../connection/database.ts';
import { Refused, refusable } from '../connection/refused.ts';
import type { TaskHolder } from '../runners/holder.ts';
import { type HeldTask, lockAndRenewLease } from '../runners/lease.ts';
import { type Change, changeSession, type LockedSession } from './change-session.ts';

export type WriteRefusal =
  | 'task-not-found'
  | 'upload-not-found'
  | 'watermark-regression'
  | 'watermark-unknown-input';

/** A held task for a write, its run and claim locked. */
export interface TaskWrite {
  readonly tx: Tx;
  readonly task: HeldTask;
}

/** Writes for a held task without its session. */
export async function writeTask<T>(
  database: Database,
  caller: TaskHolder,
  write: (held: TaskWrite) => Promise<T>,
) {
  return refusable<T, WriteRefusal>(() => database.transaction(async (tx) => write(await held(tx, caller))));
}

/** As {@link writeTask}, for what changes the task's session. */
export async function writeTaskAndSession<T>(
  database: Database,
  caller: TaskHolder,
  write: (held: TaskWrite, session: LockedSession) => Promise<Change<T>>,
) {
  return refusable<T, WriteRefusal>(async () => {
    const result = await changeSession(database, { taskId: caller.taskId }, async (tx, session) =>
      write(await held(tx, caller), session),
    );
    if (result === undefined) throw new Refused<WriteRefusal>('task-not-found');
    return result;
  });
}

async function held(tx: Tx, caller: TaskHolder): Promise<TaskWrite> {
  const task = await lockAndRenewLease(tx, caller);
  if (task === undefined) throw new Refused<WriteRefusal>('task-not-found');
  return { tx, task };
}
