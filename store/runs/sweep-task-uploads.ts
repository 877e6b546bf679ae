/** Removes uploads of tasks that are over: their parts from the store, then their rows (decisions, section 9). */

import type { Queryable } from '../connection/database.ts';
import type { ObjectStores } from '../objects/object-stores.ts';
import { type OverUpload, removeUploads, sweepBatch } from '../objects/remove-uploads.ts';
import { isOpen } from '../runners/lease.ts';
import type { TaskUploadState } from './task-uploads.ts';

interface OverTaskUpload extends OverUpload {
  readonly handle: string;
  readonly state: TaskUploadState;
  /** Its task continues, so that its completion may be repeated. */
  readonly isHeld: boolean;
}

/** However a task ended (complete, fail, release, lease, token or session gone), no claim of it is open. */
const isHeld = `exists (select 1 from node_claim c where c.task_id = u.task_id and ${isOpen})`;

/**
 * Removes uploads that were abandoned, have expired, or whose task has ended in any way. Safe to run in several
 * processes at once and to stop at any point. Does one batch; call it again while it does something.
 *
 * A part or a completion may be on its way to the store at this moment. So the pending row of the object stays, as if
 * it just had a heartbeat: the sweeper of pending objects checks again after a long silence.
 * @returns the number of uploads removed
 */
export async function sweepTaskUploads(database: Queryable, stores: ObjectStores): Promise<number> {
  const uploads = await database.query<OverTaskUpload>(
    `select u.handle, u.state, u.data_source_id, u.object_key,
            u.store_upload_id, ${isHeld} as is_held
       from task_upload u
      where u.sweep_at <= statement_timestamp()
        and (u.state = 'over' or (u.state = 'open' and u.expires_at <= clock_timestamp()) or not ${isHeld})
      order by u.sweep_at, u.handle limit ${sweepBatch}`,
  );
  return removeUploads(
    database,
    stores,
    uploads,
    (upload) => removeRow(database, upload),
    ({ handle }, seconds) =>
      database.query(
        `update task_upload set sweep_at = clock_timestamp() + make_interval(secs => $2) where handle = $1`,
        [handle, seconds],
      ),
  );
}

async function removeRow(database: Queryable, { handle, state, isHeld }: OverTaskUpload): Promise<number> {
  const rows = await database.query(
    `with gone as (
       delete from task_upload where handle = $1 and state = $2 and (output_id is null or not $3) returning object_key
     ), kept as (
       update task_upload set state = 'done' where handle = $1 and state = $2 and output_id is not null and $3
       returning object_key
     ), pending as (
       update pending_object set heartbeat_at = clock_timestamp()
        where object_key in (select object_key from gone union all select object_key from kept)
     )
     select object_key from gone union all select object_key from kept`,
    [handle, state, isHeld],
  );
  return rows.length;
}
