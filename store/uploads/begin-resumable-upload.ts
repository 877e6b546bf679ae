/** The beginning of a resumable upload: its row, before the request to the store, and the store's name for it. */

import { lockOfText } from '../connection/advisory-locks.ts';
import type { Queryable, Tx } from '../connection/database.ts';
import { jsonOrNull } from '../connection/parameters.ts';
import { isUnfinished, type NewResumableUpload } from './resumable-uploads.ts';

/** Two creations of one share must not both take its last place. */
const lockOfShare = lockOfText("'resumable_upload ' || $1 || ' ' || $2");

/** What has the id of an upload that is to begin: nothing, the same upload with bytes still to come, or another one. */
export async function findBegun(
  tx: Tx,
  id: string,
  upload: NewResumableUpload,
): Promise<'none' | 'same' | 'other'> {
  const [row] = await tx.query<{ isSame: boolean }>(
    `select ${isUnfinished} and u.user_id = $2 and nullif(u.node_instance_id, 0) is not distinct from $3::bigint
            and u.ingest_id is not distinct from $4::bigint and u.size_bytes = $5::bigint
            and u.upload_metadata is not distinct from $6 as is_same
       from resumable_upload u where u.id = $1`,
    [id, upload.userId, upload.nodeInstanceId, upload.ingestId, upload.sizeBytes, upload.uploadMetadata],
  );
  if (row === undefined) return 'none';
  return row.isSame ? 'same' : 'other';
}

/**
 * Writes an upload before the request to the store, so that everything in the store has a row.
 * @param bounds `atMost`: unfinished uploads of the caller that are counted for the same one
 * @returns when it expires; `missing` without the node or ingest
 */
export async function createResumableUpload(
  tx: Tx,
  upload: NewResumableUpload,
  bounds: { readonly countedFor: string; readonly atMost: number; readonly seconds: number },
): Promise<Date | 'too-many' | 'missing'> {
  await tx.query(lockOfShare, [upload.userId, bounds.countedFor]);
  const [{ count } = { count: 0 }] = await tx.query<{ count: number }>(
    `select count(*)::int as count from resumable_upload u
      where u.user_id = $1 and u.counted_for = $2 and ${isUnfinished}`,
    [upload.userId, bounds.countedFor],
  );
  if (count >= bounds.atMost) return 'too-many';
  const [row] = await tx.query<{ expiresAt: Date }>(
    `with node as (
       select id from node_instance where id = $3::bigint for key share
     ), ingested as (
       select id from ingest where id = $12::bigint for key share
     ), place as (
       select id, null::bigint as ingest_id from node union all select 0, id from ingested
     ), pending as (
       insert into pending_object (object_key, data_source_id, node_instance_id)
       select $5, $4::bigint, nullif(id, 0) from place)
     insert into resumable_upload (id, user_id, node_instance_id, ingest_id, data_source_id, object_key,
                                   output_identifier, content_type, content_encoding, metadata, size_bytes,
                                   upload_metadata, counted_for, expires_at, sweep_at)
     select $1::uuid, $2, id, ingest_id, $4::bigint, $5, $6, $7, $8, $9::jsonb, $10::bigint,
            $13, $14, clock_timestamp() + make_interval(secs => $11), clock_timestamp() + make_interval(secs => $11)
       from place returning expires_at`,
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
      upload.ingestId,
      upload.uploadMetadata,
      bounds.countedFor,
    ],
  );
  return row?.expiresAt ?? 'missing';
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
