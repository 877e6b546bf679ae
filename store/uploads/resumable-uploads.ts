/**
 * Resumable uploads: rows that record what the store holds of each (additions 3). One request at a time is an upload's
 * writer; every write repeats that fence. Nothing here calls the store: see sweep-resumable-uploads.ts for leftovers.
 */
import type { Database, Queryable, Tx } from '../connection/database.ts';
import type { SentPart } from '../objects/multipart.ts';
import type { PieceProgress, StoredPiece } from '../objects/piece-writer.ts';
import { jsonOrNull, type UploadedObject } from '../outputs/outputs.ts';

export interface NewResumableUpload extends Omit<UploadedObject, 'sha256' | 'etag'> {
  readonly id: string;
  readonly userId: string;
}

/** `open` takes bytes; `whole` has all of them; `done` became an output or is queued; `over` is to be removed. */
type ResumableUploadState = 'open' | 'whole' | 'done' | 'over';

export interface ResumableUpload extends NewResumableUpload {
  /** The store's name for it; null until the store has returned it. */
  readonly storeUploadId: string | null;
  readonly offsetBytes: number;
  readonly tailKey: string | null;
  readonly tailBytes: number;
  readonly hashState: Buffer | null;
  readonly sha256: string | null;
  readonly state: ResumableUploadState;
  readonly outputId: number | null;
  readonly expiresAt: Date;
}

/** Another request has become the upload's writer, or it is over. */
export class WriterLost extends Error {
  constructor() {
    super('Another request writes to the upload.');
    this.name = 'WriterLost';
  }
}

export const resumableUploadColumns = `
  u.id, u.user_id, u.node_instance_id, u.data_source_id, u.object_key, u.output_identifier, u.content_type,
  u.content_encoding, u.metadata, u.size_bytes, u.store_upload_id, u.offset_bytes, u.tail_key, u.tail_bytes,
  u.hash_state, u.sha256, u.state, u.output_id, u.expires_at`;
const isUnfinished = `u.state in ('open', 'whole') and u.expires_at > clock_timestamp()`;
/** Two creations of one caller must not both take the last place. */
const lockOfCaller = `select pg_advisory_xact_lock(hashtextextended('resumable_upload ' || $1, 0))`;

/**
 * Writes an upload before the request to the store, so that everything in the store has a row.
 * @param bounds `atMost`: unfinished uploads of the caller
 * @returns when it expires
 */
export async function createResumableUpload(
  tx: Tx,
  upload: NewResumableUpload,
  bounds: { readonly atMost: number; readonly seconds: number },
): Promise<Date | 'too-many' | 'node-missing'> {
  await tx.query(lockOfCaller, [upload.userId]);
  const [{ count } = { count: 0 }] = await tx.query<{ count: number }>(
    `select count(*)::int as count from resumable_upload u where u.user_id = $1 and ${isUnfinished}`,
    [upload.userId],
  );
  if (count >= bounds.atMost) return 'too-many';
  const [row] = await tx.query<{ expiresAt: Date }>(
    `with node as (select id from node_instance where id = $3::bigint for key share), pending as (
       insert into pending_object (object_key, data_source_id, node_instance_id)
       select $5, $4::bigint, id from node)
     insert into resumable_upload (id, user_id, node_instance_id, data_source_id, object_key, output_identifier,
                                   content_type, content_encoding, metadata, size_bytes, expires_at, sweep_at)
     select $1::uuid, $2, id, $4::bigint, $5, $6, $7, $8, $9::jsonb, $10::bigint,
            clock_timestamp() + make_interval(secs => $11), clock_timestamp() + make_interval(secs => $11)
       from node returning expires_at`,
    [
      upload.id,
      upload.userId,
      upload.nodeInstanceId,
      upload.dataSourceId,
      upload.objectKey,
      upload.outputIdentifier,
      upload.contentType,
      upload.contentEncoding,
      jsonOrNull(upload.metadata),
      upload.sizeBytes,
      bounds.seconds,
    ],
  );
  return row?.expiresAt ?? 'node-missing';
}

/** Saves the store's name for the upload; an upload whose creation was repeated keeps the first. */
export async function nameResumableUpload(
  database: Queryable,
  id: string,
  storeUploadId: string,
): Promise<boolean> {
  const rows = await database.query(
    `update resumable_upload set store_upload_id = $2
      where id = $1 and state = 'open' and store_upload_id is null returning 1`,
    [id, storeUploadId],
  );
  return rows.length > 0;
}

/** An upload to exactly this node that is finished or can be continued. */
export async function findResumableUpload(
  database: Queryable,
  nodeInstanceId: number,
  id: string,
): Promise<ResumableUpload | undefined> {
  const [row] = await database.query<ResumableUpload>(
    `select ${resumableUploadColumns} from resumable_upload u
      where u.id = $2 and u.node_instance_id = $1 and (u.state = 'done' or (${isUnfinished}))`,
    [nodeInstanceId, id],
  );
  return row;
}

/**
 * Makes a request the writer, when there is no other that lives; else asks the other to stop.
 * @returns undefined while another writes, or when the upload cannot be continued
 */
export async function acquireWriter(
  database: Queryable,
  id: string,
  writer: string,
  goneSeconds: number,
): Promise<ResumableUpload | undefined> {
  const [row] = await database.query<ResumableUpload & { writer: string }>(
    `with found as (
       select id, writer is null or writer_seen_at < clock_timestamp() - make_interval(secs => $3) as is_free
         from resumable_upload u where u.id = $1 and ${isUnfinished} for no key update)
     update resumable_upload u
        set writer = case when is_free then $2::uuid else writer end,
            writer_seen_at = case when is_free then clock_timestamp() else writer_seen_at end,
            is_wanted = not is_free
       from found where u.id = found.id returning ${resumableUploadColumns}, u.writer`,
    [id, writer, goneSeconds],
  );
  return row?.writer === writer ? row : undefined;
}

export async function releaseWriter(database: Queryable, id: string, writer: string): Promise<void> {
  await database.query(
    'update resumable_upload set writer = null, is_wanted = false where id = $1 and writer = $2',
    [id, writer],
  );
}

/** Shows that these writers live. @returns those that must stop: another request waits for the upload, or has it */
export async function renewWriters(
  database: Queryable,
  writers: ReadonlyMap<string, string>,
): Promise<string[]> {
  const values = [[...writers.keys()], [...writers.values()]];
  const kept = await database.query<{ writer: string; isWanted: boolean }>(
    `with held as (
       select u.id from resumable_upload u
         join unnest($1::uuid[], $2::uuid[]) as w (writer, id) on w.id = u.id and w.writer = u.writer
        order by u.id for no key update of u)
     update resumable_upload u set writer_seen_at = clock_timestamp() from held where u.id = held.id
     returning u.writer, u.is_wanted`,
    values,
  );
  const alone = new Set(kept.flatMap(({ writer, isWanted }) => (isWanted ? [] : [writer])));
  return [...writers.keys()].filter((writer) => !alone.has(writer));
}

/** Gives out the number of the next part. @throws WriterLost */
export async function reservePart(database: Queryable, id: string, writer: string): Promise<number> {
  const [row] = await database.query<{ number: number }>(
    `update resumable_upload set next_part = next_part + 1
      where id = $1 and writer = $2 and state = 'open' returning next_part - 1 as number`,
    [id, writer],
  );
  if (row === undefined) throw new WriterLost();
  return row.number;
}

/** Writes the row of a tail before its first byte. */
export async function beginTail(database: Queryable, dataSourceId: number, key: string): Promise<void> {
  await database.query('insert into pending_object (object_key, data_source_id) values ($1, $2)', [
    key,
    dataSourceId,
  ]);
}

/**
 * Records what the store holds now: further parts, the tail after them, and how far the upload is. The tail before is
 * deleted.
 * @throws WriterLost
 */
export async function saveProgress(
  database: Queryable,
  id: string,
  writer: string,
  parts: readonly StoredPiece[],
  progress: PieceProgress,
  keptSeconds: number,
): Promise<void> {
  const { offsetBytes, tail, hashState, sha256 } = progress;
  const rows = await database.query(
    `with before as materialized (
       select id, tail_key, object_key from resumable_upload
        where id = $1 and writer = $2 and state = 'open' for no key update
     ), heartbeat as (
       update pending_object p set heartbeat_at = clock_timestamp() from before where p.object_key = before.object_key
     ), upload as (
       update resumable_upload u
          set offset_bytes = $3, tail_key = $4, tail_bytes = $5, hash_state = $6, sha256 = $7,
              state = case when $3 = u.size_bytes and $4::text is null then 'whole' else 'open' end,
              writer_seen_at = clock_timestamp(),
              expires_at = clock_timestamp() + make_interval(secs => $8),
              sweep_at = clock_timestamp() + make_interval(secs => $8)
         from before where u.id = before.id returning u.id
     ), parts as (
       insert into resumable_upload_part (upload_id, number, size_bytes, etag)
       select upload.id, p.number, p.size_bytes, p.etag
         from upload, unnest($9::int[], $10::bigint[], $11::text[]) as p (number, size_bytes, etag)
     ), gone as (
       delete from pending_object p using before where p.object_key = before.tail_key and p.object_key is distinct from $4
       returning p.data_source_id, p.object_key
     ), deletion as (
       insert into object_deletion (data_source_id, object_key) select data_source_id, object_key from gone
     )
     select id from upload`,
    [
      id,
      writer,
      offsetBytes,
      tail?.key ?? null,
      tail?.sizeBytes ?? 0,
      hashState,
      sha256,
      keptSeconds,
      parts.map(({ number }) => number),
      parts.map(({ sizeBytes }) => sizeBytes),
      parts.map(({ etag }) => etag),
    ],
  );
  if (rows.length === 0) throw new WriterLost();
}

/** The parts of an upload in the order of their numbers. */
export async function uploadParts(database: Queryable, id: string): Promise<SentPart[]> {
  return database.query<SentPart>(
    'select number, etag from resumable_upload_part where upload_id = $1 order by number',
    [id],
  );
}

/** Saves the digest of a whole upload. */
export async function saveDigest(database: Queryable, id: string, sha256: string): Promise<void> {
  await database.query(`update resumable_upload set sha256 = $2 where id = $1 and state = 'whole'`, [
    id,
    sha256,
  ]);
}

/**
 * Ends an upload, in the transaction that makes it an output or puts it into the queue.
 * @param outputId null in the queue
 * @param isUsed false for a repeat: nothing refers to its object, which goes
 * @throws WriterLost
 */
export async function endResumableUpload(
  tx: Queryable,
  id: string,
  writer: string,
  outputId: number | null,
  isUsed: boolean,
): Promise<void> {
  const rows = await tx.query(
    `with upload as (
       update resumable_upload set state = 'done', output_id = $3 where id = $1 and writer = $2 and state = 'whole'
       returning id, object_key
     ), gone as (
       delete from pending_object p using upload where not $4 and p.object_key = upload.object_key
       returning p.data_source_id, p.object_key
     ), deletion as (
       insert into object_deletion (data_source_id, object_key) select data_source_id, object_key from gone
     )
     select id from upload`,
    [id, writer, outputId, isUsed],
  );
  if (rows.length === 0) throw new WriterLost();
}

/** Gives an upload up: terminated by its caller, or lost by the store. The sweeper removes what is left of it. */
export async function discardResumableUpload(database: Database, id: string): Promise<void> {
  await database.query(
    `update resumable_upload set state = 'over', sweep_at = clock_timestamp()
      where id = $1 and state in ('open', 'whole')`,
    [id],
  );
}
