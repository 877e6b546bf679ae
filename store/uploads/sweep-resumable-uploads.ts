/** Removes resumable uploads that were terminated or have expired: their parts from the store, then their rows. */
import type { Queryable } from '../connection/database.ts';
import type { ObjectStores } from '../objects/object-stores.ts';
import { type OverUpload, removeUploads, sweepBatch } from '../objects/remove-uploads.ts';

interface OverResumable extends OverUpload {
  readonly id: string;
}

/**
 * Safe to run in several processes at once and to stop at any point. Does one batch; call it again while it does
 * something. Rows of finished uploads go when they would have expired: until then they answer repeats.
 *
 * A part or a completion may be on its way to the store at this moment. So the pending row of the object stays, as if
 * it just had a heartbeat: the sweeper of pending objects checks again after a long silence. It is no upload to the node
 * any more.
 * @returns the number of uploads removed
 */
export async function sweepResumableUploads(database: Queryable, stores: ObjectStores): Promise<number> {
  const uploads = await database.query<OverResumable>(
    `select id, state, data_source_id, object_key, store_upload_id from resumable_upload
      where sweep_at <= statement_timestamp() order by sweep_at, id limit ${sweepBatch}`,
  );
  return removeUploads(
    database,
    stores,
    uploads,
    (upload) => removeRow(database, upload),
    ({ id }, seconds) =>
      database.query(
        `update resumable_upload set sweep_at = clock_timestamp() + make_interval(secs => $2) where id = $1`,
        [id, seconds],
      ),
  );
}

async function removeRow(database: Queryable, { id, state }: OverResumable): Promise<number> {
  const rows = await database.query(
    `with gone as (
       delete from resumable_upload where id = $1 and state = $2 and sweep_at <= clock_timestamp()
       returning object_key, tail_key
     ), pending as (
       update pending_object set heartbeat_at = clock_timestamp(), node_instance_id = null
        where object_key in (select object_key from gone)
     ), tail as (
       delete from pending_object where object_key in (select tail_key from gone) returning data_source_id, object_key
     ), deletion as (
       insert into object_deletion (data_source_id, object_key) select data_source_id, object_key from tail
     )
     select object_key from gone`,
    [id, state],
  );
  return rows.length;
}
