/**
 * Resumable uploads: rows that record what the store holds of each (additions 3). One request at a time is an upload's
 * writer; every write repeats that fence. Nothing here calls the store: see sweep-resumable-uploads.ts for leftovers.
 */
import { limits } from '../../domain/limits.ts';
import type { Database, Queryable } from '../connection/database.ts';
import type { SentPart } from '../objects/multipart.ts';
import type { PieceProgress, StoredPiece } from '../objects/piece-writer.ts';
import type { UploadedObject } from '../outputs/outputs.ts';

export interface NewResumableUpload extends Omit<UploadedObject, 'nodeInstanceId' | 'sha256' | 'etag'> {
  readonly id: string;
  /** The caller who may continue it. */
  readonly userId: string;
  /** Null for an upload to a managed ingest, until that is performed. */
  readonly nodeInstanceId: number | null;
  readonly ingestId: number | null;
  /** `Upload-Metadata` as the caller sent it; null without. */
  readonly uploadMetadata: string | null;
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

/**
 * Of a row: all bytes have come. The table says `stored` for a whole upload to an ingest that is not performed yet, since
 * processes of earlier versions would take a whole one without its node for lost; its node is 0 until then.
 */
const isWhole = `state in ('whole', 'stored')`;
const isOpenOrWhole = `state in ('open', 'whole', 'stored')`;

/** An upload, and the writer that a caller is for it. */
export interface HeldUpload {
  readonly id: string;
  readonly writer: string;
}

/** Another request has become the upload's writer, or it is over. */
export class WriterLost extends Error {
  constructor() {
    super('Another request writes to the upload.');
    this.name = 'WriterLost';
  }
}

export const resumableUploadColumns = `
  u.id, u.user_id, nullif(u.node_instance_id, 0) as node_instance_id, u.ingest_id, u.data_source_id, u.object_key, u.output_identifier, u.content_type,
  u.content_encoding, u.metadata, u.size_bytes, u.store_upload_id, u.offset_bytes, u.tail_key, u.tail_bytes,
  u.hash_state, u.sha256, case u.state when 'stored' then 'whole' else u.state end as state, u.output_id, u.expires_at,
  u.upload_metadata`;
export const isUnfinished = `u.${isOpenOrWhole} and u.expires_at > clock_timestamp()`;

/**
 * Bytes are on their way to a node. A resumable upload may be silent until it expires.
 * @param silence after which an upload in one request counts as broken off
 */
export const isUploadedTo = (nodeId: string, silence: string) => `
  exists (select from pending_object w left join resumable_upload u on u.object_key = w.object_key
           where w.node_instance_id = ${nodeId}
             and case when u.id is null then w.heartbeat_at > clock_timestamp() - ${silence}
                      else ${isUnfinished} end)`;

/** An upload that is finished or can be continued. */
export async function findResumableUpload(
  database: Queryable,
  id: string,
): Promise<ResumableUpload | undefined> {
  const [row] = await database.query<ResumableUpload>(
    `select ${resumableUploadColumns} from resumable_upload u
      where u.id = $1 and (u.state = 'done' or (${isUnfinished}))`,
    [id],
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
  await database.query('update resumable_upload set writer = null where id = $1 and writer = $2', [
    id,
    writer,
  ]);
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
export async function reservePart(database: Queryable, { id, writer }: HeldUpload): Promise<number> {
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

const progressStatement = `
  with before as materialized (
    select id, tail_key, object_key from resumable_upload
     where id = $1 and writer = $2 and state = 'open' for no key update
  ), heartbeat as (
    update pending_object p set heartbeat_at = clock_timestamp() from before where p.object_key = before.object_key
  ), upload as (
    update resumable_upload u
       set offset_bytes = $3, tail_key = $4, tail_bytes = $5, hash_state = $6, sha256 = $7,
           state = case when $3 < u.size_bytes or $4::text is not null then 'open'
                        when u.ingest_id is null then 'whole' else 'stored' end,
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
  select id from upload`;

/**
 * Records what the store holds now: further parts, the tail after them, and how far the upload is. The tail before is
 * deleted.
 * @throws WriterLost
 */
export async function saveProgress(
  database: Queryable,
  { id, writer }: HeldUpload,
  parts: readonly StoredPiece[],
  { offsetBytes, tail, hashState, sha256 }: PieceProgress,
): Promise<void> {
  const rows = await database.query(progressStatement, [
    id,
    writer,
    offsetBytes,
    tail?.key ?? null,
    tail?.sizeBytes ?? 0,
    hashState,
    sha256,
    limits.resumableUploadSeconds,
    parts.map(({ number }) => number),
    parts.map(({ sizeBytes }) => sizeBytes),
    parts.map(({ etag }) => etag),
  ]);
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
  await database.query(`update resumable_upload set sha256 = $2 where id = $1 and ${isWhole}`, [id, sha256]);
}

/** What an upload became. */
export interface UploadEnd {
  readonly nodeInstanceId: number;
  /** Null in the queue. */
  readonly outputId: number | null;
  /** False for a repeat: nothing refers to its object, which goes. */
  readonly isUsed: boolean;
}

/**
 * Ends an upload, in the transaction that makes it an output or puts it into the queue.
 * @throws WriterLost
 */
export async function endResumableUpload(
  tx: Queryable,
  { id, writer }: HeldUpload,
  { nodeInstanceId, outputId, isUsed }: UploadEnd,
): Promise<void> {
  const rows = await tx.query(
    `with upload as (
       update resumable_upload set state = 'done', output_id = $3, node_instance_id = $5
        where id = $1 and writer = $2 and ${isWhole}
       returning id, object_key
     ), gone as (
       delete from pending_object p using upload where not $4 and p.object_key = upload.object_key
       returning p.data_source_id, p.object_key
     ), deletion as (
       insert into object_deletion (data_source_id, object_key) select data_source_id, object_key from gone
     )
     select id from upload`,
    [id, writer, outputId, isUsed, nodeInstanceId],
  );
  if (rows.length === 0) throw new WriterLost();
}

/** Gives an upload up: terminated by its caller, or lost by the store. The sweeper removes what is left of it. */
export async function discardResumableUpload(database: Database, id: string): Promise<void> {
  await database.query(
    `update resumable_upload set state = 'over', sweep_at = clock_timestamp()
      where id = $1 and ${isOpenOrWhole}`,
    [id],
  );
}

/** Gives up the unfinished uploads to the nodes of a session that is being deleted, whose nodes are locked. */
export async function discardUploadsOfSession(tx: Queryable, sessionId: string): Promise<void> {
  await tx.query(
    `update resumable_upload u set state = 'over', sweep_at = clock_timestamp()
       from node_instance n join pending_object w on w.node_instance_id = n.id
      where n.session_id = $1 and u.object_key = w.object_key and u.${isOpenOrWhole}`,
    [sessionId],
  );
}
