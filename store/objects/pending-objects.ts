/**
 * Objects on their way: a row is written before the first byte of an object and goes with the transaction that
 * publishes it. A row without a heartbeat is swept. Buckets are never listed to clean up: they may hold other people's
 * files.
 */
import { unaudited } from '../administration/audit-scope.ts';
import type { Queryable, Tx } from '../connection/database.ts';
import { failpoint } from '../connection/failpoint.ts';
import { type DataSourceRow, findDataSource } from './data-sources.ts';
import type { ObjectStores } from './object-stores.ts';

const heartbeatEveryMs = 10_000;
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

/** The node instance for which an object was meant is gone. */
export class PendingNodeGone extends Error {
  constructor(nodeInstanceId: number) {
    super(`Node instance ${nodeInstanceId} no longer exists.`);
    this.name = 'PendingNodeGone';
  }
}

/** The pending rows of one process, kept alive while their objects are being written. */
export class PendingObjects {
  readonly #database: Queryable;
  readonly #stores: ObjectStores;
  readonly #active = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(database: Queryable, stores: ObjectStores) {
    this.#database = database;
    this.#stores = stores;
  }

  /**
   * Writes the row before the first byte, and sends heartbeats from now on. Every `begin` needs its `release` or
   * `discard`.
   * @param nodeInstanceId the node to which a caller uploads: its session's template stays as long
   * @throws PendingNodeGone
   */
  async begin(objectKey: string, dataSourceId: number, nodeInstanceId?: number): Promise<void> {
    await this.beginBy(objectKey, async () => {
      await this.#writeRow(objectKey, dataSourceId, nodeInstanceId);
      return { isBegun: true };
    });
  }

  /** As {@link begin}, by a statement of the caller's that inserts the row, unless it says that it has not. */
  async beginBy<T extends { readonly isBegun: boolean } | undefined>(
    objectKey: string | null,
    insert: () => Promise<T>,
  ): Promise<T> {
    const inserted = await unaudited(insert);
    if (objectKey === null || inserted?.isBegun !== true) return inserted;
    this.#active.add(objectKey);
    this.#timer ??= setInterval(() => unaudited(() => void this.#heartbeat()), heartbeatEveryMs).unref();
    return inserted;
  }

  async #writeRow(objectKey: string, dataSourceId: number, nodeInstanceId?: number): Promise<void> {
    if (nodeInstanceId === undefined) {
      await this.#database.query('insert into pending_object (object_key, data_source_id) values ($1, $2)', [
        objectKey,
        dataSourceId,
      ]);
    } else {
      const rows = await this.#database.query(
        `insert into pending_object (object_key, data_source_id, node_instance_id)
         select $1, $2::bigint, id from node_instance where id = $3::bigint for key share returning 1`,
        [objectKey, dataSourceId, nodeInstanceId],
      );
      if (rows.length === 0) throw new PendingNodeGone(nodeInstanceId);
    }
  }

  /** Stops the heartbeats: the object was published, or is left to the sweeper. */
  release(objectKey: string): void {
    this.#active.delete(objectKey);
    if (this.#active.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /**
   * Removes an object that was not published, at once where possible. When the publishing transaction did commit
   * after all (its answer was lost), the object stays. Never throws: what fails here is left to the sweeper.
   */
  async discard(objectKey: string, dataSource: DataSourceRow): Promise<void> {
    this.release(objectKey);
    try {
      await this.#stores.of(dataSource).abortUploads(objectKey);
      const deletionId = await unaudited(() => moveToDeletions(this.#database, objectKey));
      if (deletionId === undefined) return;
      await this.#stores.of(dataSource).delete(objectKey);
      await unaudited(() => this.#database.query('delete from object_deletion where id = $1', [deletionId]));
    } catch {
      // A row of one of the two tables exists, so the sweeper finds the object.
    }
  }

  async #heartbeat(): Promise<void> {
    // After a failed heartbeat almost an hour is left for the next one.
    await this.#database
      .query(
        'update pending_object set heartbeat_at = clock_timestamp() where object_key = any ($1::text[])',
        [[...this.#active]],
      )
      .catch(() => undefined);
  }
}

/** From pending to "to be deleted", in one statement; undefined when the row is gone. */
async function moveToDeletions(database: Queryable, objectKey: string): Promise<number | undefined> {
  const [row] = await database.query<{ id: number }>(
    `with gone as (
       delete from pending_object where object_key = $1 returning data_source_id, object_key
     )
     insert into object_deletion (data_source_id, object_key)
     select data_source_id, object_key from gone returning id`,
    [objectKey],
  );
  return row?.id;
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
