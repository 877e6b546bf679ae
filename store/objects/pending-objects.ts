/**
 * Objects on their way: a row is written before the first byte of an object and goes with the transaction that
 * publishes it (held-objects.ts). A row without a heartbeat is swept. Buckets are never listed to clean up: they may
 * hold other people's files.
 */
import type { Queryable, Tx } from '../connection/database.ts';
import { failpoint } from '../connection/failpoint.ts';
import { findDataSource } from './data-sources.ts';
import type { ObjectStores } from './object-stores.ts';

const sweepBatch = 100;
const deletionRetrySeconds = 300;

/** The sweeper took the object, so that nothing may refer to it any more. */
export class PendingObjectGone extends Error {
  constructor(objectKey: string) {
    super(`The pending row of ${objectKey} no longer exists.`);
    this.name = 'PendingObjectGone';
  }
}

/**
 * Ends the pending state of an object, in the transaction that makes something refer to it.
 * @throws PendingObjectGone
 */
export async function removePendingObject(tx: Tx, objectKey: string): Promise<void> {
  const rows = await tx.query('delete from pending_object where object_key = $1 returning object_key', [
    objectKey,
  ]);
  if (rows.length === 0) throw new PendingObjectGone(objectKey);
}

export interface SweepResult {
  /** Objects without a heartbeat, whose rows moved to the queue of deletions. */
  readonly abandoned: number;
  /** Objects removed from their stores. */
  readonly deleted: number;
  /** Deletions that failed and are tried again later. */
  readonly failed: number;
}

/**
 * Removes unfinished objects, and those on the queue of deletions. Safe to run in several processes at once and to stop
 * at any point. Does one batch of each; call it again while it does something.
 * @param options `keptHours`: how long objects stay after their last row went; default: not at all
 */
export async function sweepAbandonedObjects(
  database: Queryable,
  stores: ObjectStores,
  options: { readonly olderThanSeconds: number; readonly keptHours?: number },
): Promise<SweepResult> {
  const abandoned = await sweepPending(database, stores, options.olderThanSeconds);
  const deletions = await sweepDeletions(database, stores, options.keptHours ?? 0);
  return { abandoned, ...deletions };
}

// Uploads of tasks, and resumable ones, live without a heartbeat: see sweep-task-uploads.ts and
// sweep-resumable-uploads.ts.
const isOld = `heartbeat_at < statement_timestamp() - make_interval(secs => $1) and not exists (
    select 1 from task_upload u where u.object_key = pending_object.object_key and u.state <> 'done')
  and not exists (
    select 1 from resumable_upload u where u.object_key = pending_object.object_key and u.state <> 'done')
  and not exists (select 1 from resumable_upload u where u.tail_key = pending_object.object_key)`;

/** How many uploads the sweeper would remove now. */
export async function countAbandonedObjects(database: Queryable, olderThanSeconds: number): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    `select count(*)::int as count from pending_object where ${isOld}`,
    [olderThanSeconds],
  );
  return row?.count ?? 0;
}

async function sweepPending(
  database: Queryable,
  stores: ObjectStores,
  olderThanSeconds: number,
): Promise<number> {
  const rows = await database.query<{ objectKey: string; dataSourceId: number }>(
    `select object_key, data_source_id from pending_object
      where ${isOld} order by heartbeat_at limit ${sweepBatch}`,
    [olderThanSeconds],
  );
  let abandoned = 0;
  for (const { objectKey, dataSourceId } of rows) {
    const dataSource = await findDataSource(database, dataSourceId);
    if (dataSource === undefined) continue;
    try {
      // Parts of an unfinished object are no object: no deletion would find them.
      await stores.of(dataSource).abortUploads(objectKey);
    } catch {
      // Again after the same time, so that one store that is down does not hold up the others.
      await database.query(
        'update pending_object set heartbeat_at = clock_timestamp() where object_key = $1',
        [objectKey],
      );
      continue;
    }
    const moved = await database.query(
      `with gone as (
         delete from pending_object where object_key = $2 and ${isOld} returning data_source_id, object_key
       )
       insert into object_deletion (data_source_id, object_key)
       select data_source_id, object_key from gone returning id`,
      [olderThanSeconds, objectKey],
    );
    abandoned += moved.length;
  }
  return abandoned;
}

async function sweepDeletions(
  database: Queryable,
  stores: ObjectStores,
  keptHours: number,
): Promise<{ deleted: number; failed: number }> {
  const rows = await database.query<{
    id: number;
    dataSourceId: number;
    objectKey: string;
    isReferred: boolean;
  }>(
    `select q.id, q.data_source_id, q.object_key,
            exists (select from node_output o
                     where o.object_key = q.object_key and o.data_source_id = q.data_source_id)
            or exists (select from node_output_superseded v
                        where v.object_key = q.object_key and v.data_source_id = q.data_source_id) as is_referred
       from object_deletion q where q.requested_at <= statement_timestamp() - make_interval(hours => $1)
      order by q.requested_at limit ${sweepBatch}`,
    [keptHours],
  );
  let deleted = 0;
  let failed = 0;
  for (const { id, dataSourceId, objectKey, isReferred } of rows) {
    try {
      const dataSource = isReferred ? undefined : await findDataSource(database, dataSourceId);
      if (dataSource !== undefined) {
        await stores.of(dataSource).delete(objectKey);
        await failpoint('object-deleted');
        deleted += 1;
      }
      await database.query('delete from object_deletion where id = $1', [id]);
    } catch {
      failed += 1;
      // Later, so that one store that is down does not hold up the others.
      await database.query(
        `update object_deletion set requested_at = clock_timestamp() + make_interval(secs => $2) where id = $1`,
        [id, deletionRetrySeconds],
      );
    }
  }
  return { deleted, failed };
}
