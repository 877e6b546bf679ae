/**
 * The sessions made by managed ingests that make one for each upload: an identified file that comes again, with the
 * same bytes, type, encoding and metadata, belongs to the session that the first one made.
 */
import { createHash } from 'node:crypto';
import type { Queryable, Tx } from '../connection/database.ts';
import type { Ingest } from '../entities/ingest.ts';
import type { UploadedObject } from '../outputs/outputs.ts';
import { forgetLostRepeat, type Stores } from '../outputs/stored-repeat.ts';

export type IngestedFile = Pick<
  UploadedObject,
  'outputIdentifier' | 'contentType' | 'contentEncoding' | 'sha256' | 'metadata'
>;

/** The destination of a file. */
export interface IngestedPlace {
  readonly projectId: number;
  readonly sessionId: string;
  readonly nodeInstanceId: number;
  /** Null while the file waits in its project's queue. */
  readonly outputId: number | null;
  /** The store has lost the bytes of the output: the file, sent again, brings them back. */
  readonly isLost: boolean;
}

/** Thrown when a file would make a second session. */
export class AlreadyIngested extends Error {
  readonly place: IngestedPlace;

  constructor(place: IngestedPlace) {
    super(`The file is in session ${place.sessionId}.`);
    this.name = 'AlreadyIngested';
    this.place = place;
  }
}

/**
 * Null for a file that another upload may equal without being it: it has no identifier, or the ingest feeds sessions.
 */
function fileDigest(ingest: Ingest, file: IngestedFile): Buffer | null {
  const { outputIdentifier, contentType, contentEncoding, sha256, metadata } = file;
  if (ingest.creationBehaviour !== 'NewSession' || outputIdentifier === null || sha256 === null) return null;
  const said = [outputIdentifier, sha256, contentType, contentEncoding, metadata && ordered(metadata)];
  return createHash('sha256').update(JSON.stringify(said)).digest();
}

function ordered(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(ordered);
  return Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, item]) => [name, ordered(item)]);
}

/** The earlier destination of this file; undefined when it is new. Asks the store for the bytes. */
export async function findIngested(
  stores: Stores,
  ingest: Ingest,
  file: IngestedFile,
): Promise<IngestedPlace | undefined> {
  const digest = fileDigest(ingest, file);
  if (digest === null) return undefined;
  const place = await findPlace(stores.database, ingest, digest, file);
  if (place === undefined || place.isLost) return place;
  const repeat = { ...file, sizeBytes: null, nodeInstanceId: place.nodeInstanceId };
  return { ...place, isLost: await forgetLostRepeat(stores, repeat) };
}

async function findPlace(
  database: Queryable,
  ingest: Ingest,
  digest: Buffer,
  { outputIdentifier }: IngestedFile,
): Promise<IngestedPlace | undefined> {
  const [row] = await database.query<IngestedPlace>(
    `select s.project_id, s.id as session_id, p.node_instance_id, p.output_id, p.is_lost
       from ingest_upload u
       join session s on s.id = u.session_id
       join lateral (
         select o.node_instance_id, o.id as output_id, o.sha256 is null as is_lost from node_output o
          where o.session_id = s.id and o.output_identifier = $3 and o.position is not null
         union all
         select q.node_instance_id, null, false from queued_upload q
          where q.session_id = s.id and q.output_identifier = $3
         order by output_id nulls last limit 1) p on true
      where u.ingest_id = $1 and u.file_digest = $2`,
    [ingest.id, digest, outputIdentifier],
  );
  return row;
}

/**
 * Claims a file for the session that this transaction makes; the same file in another transaction waits for its end.
 * @throws AlreadyIngested
 */
export async function claimFile(tx: Tx, ingest: Ingest, file: IngestedFile): Promise<Buffer | null> {
  const digest = fileDigest(ingest, file);
  if (digest === null) return null;
  const claimed = await tx.query(
    'insert into ingest_upload (ingest_id, file_digest) values ($1, $2) on conflict do nothing returning 1',
    [ingest.id, digest],
  );
  if (claimed.length > 0) return digest;
  const place = await findPlace(tx, ingest, digest, file);
  // Its session has other nodes by now, and nothing of the file is left.
  if (place === undefined) return digest;
  throw new AlreadyIngested(place);
}

/** Records which session the claimed file made. */
export async function settleFile(tx: Tx, ingest: Ingest, digest: Buffer, sessionId: string): Promise<void> {
  await tx.query('update ingest_upload set session_id = $3 where ingest_id = $1 and file_digest = $2', [
    ingest.id,
    digest,
    sessionId,
  ]);
}
