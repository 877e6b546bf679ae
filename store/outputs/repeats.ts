/**
 * Repeats of uploads: a caller sends an upload again because it did not get the answer. A repeat has the identifier,
 * the bytes (by SHA-256), the type, the encoding and the metadata of the existing output, and changes nothing
 * (decisions 8).
 */
import { isDeepStrictEqual } from 'node:util';
import { storedEncoding } from '../../domain/outputs/output-headers.ts';
import type { Queryable } from '../connection/database.ts';
import { findOutputByIdentifier, type NodeOutputRow } from './outputs.ts';

/** The fields by which uploads are compared. */
export interface UploadFacts {
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
  /** Lower-case hexadecimal; an upload without one repeats nothing. */
  readonly sha256: string | null;
  readonly metadata: Record<string, unknown> | null;
}

/** Whether the upload equals a published output. */
export function isRepeat(output: NodeOutputRow, upload: UploadFacts): boolean {
  return output.position !== null && isSame(output, upload);
}

type KnownFacts = UploadFacts & { readonly sizeBytes: number };

function isSame(known: KnownFacts, upload: UploadFacts): boolean {
  return (
    known.sha256 !== null &&
    known.sha256 === upload.sha256 &&
    known.contentType === upload.contentType &&
    known.contentEncoding === storedEncoding(known.sizeBytes, upload.contentEncoding) &&
    isDeepStrictEqual(known.metadata, asStored(upload.metadata))
  );
}

const asStored = (json: Record<string, unknown> | null): unknown => JSON.parse(JSON.stringify(json));

export type RepeatedUpload = { readonly outcome: 'repeated'; readonly output: NodeOutputRow } | Waiting;

/** The upload waits in the queue of its project, and no later one has its identifier. */
interface Waiting {
  readonly outcome: 'waiting';
  readonly projectId: number;
  readonly sessionId: string;
  readonly nodeInstanceId: number;
}

/** A longer queue is not read whole for each upload: its drain finds the repeats. */
const queueRead = 1_000;

/** The present or coming output of an identifier: the last in the queue replaces the published one. */
const newestStatement = `
  with queue as materialized (
    select * from queued_upload where node_instance_id = $1 order by id desc limit ${queueRead + 1})
  (select null::bigint as id, content_type, content_encoding,
          size_bytes, sha256, metadata, project_id, session_id
     from queue where output_identifier = $2 order by queue.id desc limit 1)
  union all
  select id, content_type, content_encoding, size_bytes, sha256, metadata, null, session_id
    from node_output where node_instance_id = $1 and output_identifier = $2 and position is not null
     and (select count(*) from queue) <= ${queueRead}`;

/** `id` is that of an output, null for a queued upload. */
type Newest = KnownFacts & {
  readonly id: number | null;
  readonly projectId: number;
  readonly sessionId: string;
};

/**
 * What an upload repeats; undefined when it is new. No lock is acquired: the answer holds for the moment of the read.
 * @param upload `sizeBytes`: null where it is not known yet
 */
export async function findRepeat(
  database: Queryable,
  upload: UploadFacts & {
    readonly nodeInstanceId: number;
    readonly outputIdentifier: string | null;
    readonly sizeBytes: number | null;
  },
): Promise<RepeatedUpload | undefined> {
  const { nodeInstanceId, outputIdentifier, sha256, sizeBytes } = upload;
  if (outputIdentifier === null || sha256 === null) return undefined;
  const [newest] = await database.query<Newest>(newestStatement, [nodeInstanceId, outputIdentifier]);
  if (newest === undefined || !isSame(newest, upload)) return undefined;
  if (sizeBytes !== null && sizeBytes !== newest.sizeBytes) return undefined;
  if (newest.id === null) {
    return { outcome: 'waiting', projectId: newest.projectId, sessionId: newest.sessionId, nodeInstanceId };
  }
  const output = await findOutputByIdentifier(database, nodeInstanceId, outputIdentifier);
  return output !== undefined && isRepeat(output, upload) ? { outcome: 'repeated', output } : undefined;
}
