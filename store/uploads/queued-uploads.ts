/**
 * Queued ingestion: uploads that were acknowledged with 202 wait here until they are published (decisions 8).
 *
 * A node's uploads are always published in the order of their rows' ids: a row leaves the queue in the transaction that
 * publishes it, under the session's lock, and always from the front of its node's queue.
 */

import { isRefusal, sqlStates } from '../../domain/network/database-fault.ts';
import { currentTraceparent } from '../../telemetry/trace.ts';
import { noteAuditedSession } from '../connection/audit-scope.ts';
import type { Database, Queryable, Tx } from '../connection/database.ts';
import { failpoint } from '../connection/failpoint.ts';
import { oncePerKey } from '../connection/idempotency.ts';
import { jsonOrNull } from '../connection/parameters.ts';
import { removePendingObject } from '../objects/pending-objects.ts';
import {
  type NodeOutputRow,
  objectColumns,
  objectParameters,
  objectValues,
  queueObjectDeletion,
  type UploadedObject,
} from '../outputs/outputs.ts';
import { markPublished, publishOutput } from '../outputs/publish-output.ts';
import { findRepeat, type RepeatedUpload } from '../outputs/repeats.ts';
import { changed, changeSession, type LockedSession, unchanged } from '../runs/change-session.ts';
import { planSession } from '../runs/plan-session.ts';

/** An upload that waits. */
export interface QueuedUpload extends UploadedObject {
  readonly id: number;
  readonly sessionId: string;
  /** The trace of the upload, as a W3C `traceparent`. */
  readonly traceparent: string | null;
}

/** Where packed bytes are. */
export interface BundlePlace {
  readonly objectKey: string;
  readonly offset: number;
}

export type QueueResult =
  | {
      readonly outcome: 'queued';
      readonly id: number;
      readonly projectId: number;
      readonly sessionId: string;
      readonly nodeInstanceId: number;
    }
  /** The upload's object is still pending: nothing refers to it. */
  | RepeatedUpload
  | { readonly outcome: 'frozen' | 'node-missing' };

/**
 * Puts an upload whose bytes are in storage into its project's queue. Once committed, it will be published whatever
 * process ends. A repeat of the same upload is not queued again; of two at the same moment the drain skips one.
 * @param settle further writes of the transaction that queues it
 * @throws PendingObjectGone; what `settle` throws
 */
export async function queueUpload(
  database: Database,
  upload: UploadedObject,
  settle: (tx: Tx, queued: Extract<QueueResult, { outcome: 'queued' }>) => Promise<void> = async () =>
    undefined,
): Promise<QueueResult> {
  await failpoint('upload-stored');
  const repeat = await findRepeat(database, upload);
  if (repeat !== undefined) return repeat;
  try {
    const result = await database.transaction(
      oncePerKey(
        async (tx) => {
          const queued = await queueUploadWithin(tx, upload);
          if (queued.outcome === 'queued') await settle(tx, queued);
          return queued;
        },
        ({ outcome }) => outcome === 'queued',
      ),
    );
    await failpoint('upload-queued');
    return result;
  } catch (error) {
    // The session was deleted, or got other nodes, meanwhile.
    if (isRefusal(error, sqlStates.foreignKeyViolation)) return { outcome: 'node-missing' };
    throw error;
  }
}

/** As {@link queueUpload}, inside the caller's transaction. */
export async function queueUploadWithin(tx: Tx, upload: UploadedObject): Promise<QueueResult> {
  // Locked first: a deletion of the session, which locks the node too, then needs nothing that waits for it here.
  const [target] = await tx.query<{ projectId: number; sessionId: string; frozen: boolean }>(
    `select s.project_id, s.id as session_id, s.frozen_at is not null as frozen
       from node_instance n join session s on s.id = n.session_id where n.id = $1 for key share of n`,
    [upload.nodeInstanceId],
  );
  if (!target) return { outcome: 'node-missing' };
  if (target.frozen) return { outcome: 'frozen' };
  noteAuditedSession(target.sessionId);
  await removePendingObject(tx, upload.objectKey);
  const [row] = await tx.query<{ id: number }>(
    `insert into queued_upload
            (project_id, session_id, node_instance_id, output_identifier, metadata, traceparent, ${objectColumns})
     values ($1, $2, $3, $4, $5, $6, ${objectParameters(7)}) returning id`,
    [
      target.projectId,
      target.sessionId,
      upload.nodeInstanceId,
      upload.outputIdentifier,
      jsonOrNull(upload.metadata),
      currentTraceparent(),
      ...objectValues(upload),
    ],
  );
  const { projectId, sessionId } = target;
  return { outcome: 'queued', id: row!.id, projectId, sessionId, nodeInstanceId: upload.nodeInstanceId };
}

/**
 * Whether the queue's workflow must be notified of a queued upload. Called after its commit: while an older one waits,
 * the drain of that one reads the queue again afterwards.
 */
export async function mustNotifyQueue(
  database: Queryable,
  queued: { readonly projectId: number; readonly id: number },
): Promise<boolean> {
  const older = await database.query(
    'select 1 from queued_upload where project_id = $1 and id < $2 limit 1',
    [queued.projectId, queued.id],
  );
  return older.length === 0;
}

const columns = `q.id, q.session_id, q.node_instance_id, q.output_identifier, q.metadata, q.traceparent, ${objectColumns}`;

/** The front of a project's queue, oldest first, except for some sessions. */
export async function queuedUploads(
  database: Queryable,
  projectId: number,
  options: { readonly limit: number; readonly exceptSessions: readonly string[] },
): Promise<QueuedUpload[]> {
  return database.query<QueuedUpload>(
    `select ${columns} from queued_upload q
      where q.project_id = $1 and q.session_id <> all ($3::uuid[]) order by q.id limit $2`,
    [projectId, options.limit, options.exceptSessions],
  );
}

/** Whether anything waits in the project. */
export async function hasQueuedUploads(database: Queryable, projectId: number): Promise<boolean> {
  const rows = await database.query('select 1 from queued_upload where project_id = $1 limit 1', [projectId]);
  return rows.length > 0;
}

/**
 * Publishes uploads of one session that are still queued, in one transaction. Those that another process has published
 * meanwhile are left out. A frozen session gets its outputs too; its runs wait.
 * @param ids from the front of their nodes' queues
 * @param places where bytes were packed, by id; the packed upload's own object goes to the queue of deletions
 * @param pendingBundles bundles that nothing refers to yet: those that are now used lose their pending rows
 * @returns the number of published uploads, of those that are queued still because older ones of their node are not
 *   among `ids`, and the bundles that are referred to now
 * @throws PendingObjectGone
 */
export async function publishQueued(
  database: Database,
  sessionId: string,
  ids: readonly number[],
  places: ReadonlyMap<number, BundlePlace>,
  pendingBundles: ReadonlySet<string>,
): Promise<{
  published: number;
  heldBack: number;
  usedBundles: ReadonlySet<string>;
}> {
  const result = await changeSession(database, { sessionId }, async (tx, session) => {
    const usedBundles = new Set<string>();
    const rows = await tx.query<QueuedUpload>(
      `delete from queued_upload q
        where q.id = any ($1::bigint[]) and q.session_id = $2
          and not exists (select 1 from queued_upload older
                           where older.node_instance_id = q.node_instance_id and older.id < q.id
                             and older.id <> all ($1::bigint[]))
       returning ${columns}`,
      [ids, sessionId],
    );
    const published = await publishRows(tx, session, rows, places);
    for (const { id } of published) {
      const bundle = places.get(id)?.objectKey;
      if (bundle !== undefined) usedBundles.add(bundle);
    }
    for (const bundle of usedBundles) if (pendingBundles.has(bundle)) await removePendingObject(tx, bundle);
    const heldBack = rows.length < ids.length ? await countQueued(tx, ids) : 0;
    const drained = { published: rows.length, heldBack, usedBundles };
    return published.length > 0 ? changed(drained) : unchanged(drained);
  });
  await failpoint('ingest-published');
  return result ?? { published: 0, heldBack: 0, usedBundles: new Set() };
}

async function countQueued(tx: Tx, ids: readonly number[]): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    'select count(*) as count from queued_upload where id = any ($1::bigint[])',
    [ids],
  );
  return row?.count ?? 0;
}

/** Uploads of one node that are published together before a direct upload to it. */
const drainedBeforeDirect = 100;

/**
 * Publishes the front of a node's queue: a direct upload to the node comes after everything that was acknowledged
 * before it. Either queueing has been switched off, or the queue is empty.
 * @returns whether there was anything; call it again until there is not
 */
export async function publishQueuedOfNode(
  tx: Tx,
  session: LockedSession,
  nodeInstanceId: number,
): Promise<boolean> {
  const rows = await tx.query<QueuedUpload>(
    `delete from queued_upload q
      where q.id in (select id from queued_upload where node_instance_id = $1 order by id limit ${drainedBeforeDirect})
      returning ${columns}`,
    [nodeInstanceId],
  );
  await publishRows(tx, session, rows, new Map());
  return rows.length > 0;
}

/** @returns the rows that repeat no existing output; the objects of the others are deleted */
async function publishRows(
  tx: Tx,
  session: LockedSession,
  rows: readonly QueuedUpload[],
  places: ReadonlyMap<number, BundlePlace>,
): Promise<QueuedUpload[]> {
  const published: QueuedUpload[] = [];
  const newest = new Map<number, { readonly output: NodeOutputRow; readonly traceparent: string | null }>();
  for (const row of [...rows].sort((a, b) => a.id - b.id)) {
    const place = places.get(row.id);
    const bytes = place ? { objectKey: place.objectKey, objectOffset: place.offset } : {};
    const { outcome, output } = await publishOutput(tx, session, { ...row, ...bytes }, async () => undefined);
    const isRepeated = outcome === 'repeated';
    if (place || isRepeated) await queueObjectDeletion(tx, row.dataSourceId, row.objectKey);
    if (isRepeated) continue;
    published.push(row);
    newest.set(row.nodeInstanceId, { output, traceparent: row.traceparent });
  }
  for (const { output } of newest.values()) await markPublished(tx, output);
  for (const [nodeInstanceId, { traceparent }] of newest) {
    await planSession(tx, session, nodeInstanceId, traceparent);
  }
  return published;
}

/**
 * Projects whose oldest queued upload has waited so long that no workflow seems to drain them. Each is acquired at most
 * once in `againSeconds`.
 */
export async function acquireForgottenQueues(
  database: Queryable,
  waits: { readonly waitedSeconds: number; readonly againSeconds: number },
  limit: number,
): Promise<Array<{ projectId: number; waitedSeconds: number }>> {
  return database.query(
    `with recursive project_queue as (
       (select project_id, queued_at from queued_upload order by project_id, id limit 1)
       union all
       select next.project_id, next.queued_at from project_queue p cross join lateral (
         select q.project_id, q.queued_at from queued_upload q
          where q.project_id > p.project_id order by q.project_id, q.id limit 1) next
     ), picked as (
       select p.id, w.queued_at from project_queue w join project p on p.id = w.project_id
        where w.queued_at < clock_timestamp() - make_interval(secs => $1)
          and p.ingest_healed_at < clock_timestamp() - make_interval(secs => $2)
        limit $3 for no key update of p skip locked
     )
     update project p set ingest_healed_at = clock_timestamp() from picked where p.id = picked.id
     returning p.id as project_id, extract(epoch from clock_timestamp() - picked.queued_at)::float8 as waited_seconds`,
    [waits.waitedSeconds, waits.againSeconds, limit],
  );
}
