/**
 * Uploads of a task in parts: rows that record what the store holds of each (decisions, section 9). A handle belongs to
 * the claim; every write repeats the fence. Nothing here calls the store: see sweep-task-uploads.ts for leftovers.
 */

import { storedEncoding } from '../../domain/outputs/output-headers.ts';
import type { Database, Queryable, Tx } from '../connection/database.ts';
import { failpoint } from '../connection/failpoint.ts';
import { jsonOrNull } from '../connection/parameters.ts';
import { Refused } from '../connection/refused.ts';
import type { SentPart } from '../objects/multipart.ts';
import { PendingObjectGone } from '../objects/pending-objects.ts';
import { type NodeOutputRow, outputColumns, type UploadedObject } from '../outputs/outputs.ts';
import type { TaskHolder } from '../runners/holder.ts';
import { heldValues, renewHeld } from '../runners/lease.ts';
import { type Change, unchanged } from './change-session.ts';
import {
  type OutputWrite,
  stageAndMove,
  stageOutput,
  type TaskOutput,
  type WrittenOutput,
} from './task-outputs.ts';
import { type TaskWrite, type WriteRefusal, writeTask, writeTaskAndSession } from './write-task.ts';

/** The description of the output when its upload begins; the platform makes an identifier only at the completion. */
export interface NewTaskUpload
  extends Omit<UploadedObject, 'nodeInstanceId' | 'sizeBytes' | 'sha256' | 'etag'> {
  readonly handle: string;
  /** Where the watermark goes at the completion; null leaves it. */
  readonly watermarkInputId: number | null;
}

/** `open` accepts parts; `over` was abandoned or not needed; `done` became an output. */
export type TaskUploadState = 'open' | 'over' | 'done';

export interface TaskUpload extends NewTaskUpload {
  /** The store's name for it; null until the store has returned it. */
  readonly storeUploadId: string | null;
  readonly state: TaskUploadState;
  readonly isExpired: boolean;
  /** The output with which its completion was answered; null before. */
  readonly outputId: number | null;
}

const heldClaim = `${renewHeld} returning c.task_id`;

/**
 * Writes an upload before the request to the store, so that everything in the store has a row.
 * @returns when the upload expires; undefined when the caller does not hold the task (any more)
 */
export async function beginTaskUpload(
  database: Queryable,
  caller: TaskHolder,
  upload: NewTaskUpload,
  expirySeconds: number,
): Promise<Date | undefined> {
  const [row] = await database.query<{ expiresAt: Date }>(
    `with claim as (${heldClaim}), pending as (
       insert into pending_object (object_key, data_source_id) select $5, $6::bigint from claim
     )
     insert into task_upload (handle, task_id, object_key, data_source_id, output_identifier, content_type,
                              content_encoding, metadata, watermark_input_id, expires_at)
     select $4::uuid, claim.task_id, $5, $6::bigint, $7, $8, $9, $10::jsonb, $11::bigint,
            clock_timestamp() + make_interval(secs => $12)
       from claim
     returning expires_at`,
    [
      ...heldValues(caller),
      upload.handle,
      upload.objectKey,
      upload.dataSourceId,
      upload.outputIdentifier,
      upload.contentType,
      upload.contentEncoding,
      jsonOrNull(upload.metadata),
      upload.watermarkInputId,
      expirySeconds,
    ],
  );
  return row?.expiresAt;
}

/** Saves the store's name for the upload; false when the upload is already over. */
export async function nameTaskUpload(
  database: Queryable,
  handle: string,
  storeUploadId: string,
): Promise<boolean> {
  const rows = await database.query(
    `update task_upload set store_upload_id = $2 where handle = $1 and state = 'open' returning 1`,
    [handle, storeUploadId],
  );
  return rows.length > 0;
}

const uploadColumns = `
  u.handle, u.data_source_id, u.object_key, u.output_identifier,
  u.content_type, u.content_encoding, u.metadata,
  u.watermark_input_id, u.store_upload_id, u.state,
  u.expires_at <= clock_timestamp() as is_expired, u.output_id`;

/** An upload of exactly this task. */
export async function findTaskUpload(
  database: Queryable,
  taskId: string,
  handle: string,
): Promise<TaskUpload | undefined> {
  const [upload] = await database.query<TaskUpload>(
    `select ${uploadColumns} from task_upload u where u.handle = $2 and u.task_id = $1`,
    [taskId, handle],
  );
  return upload;
}

export interface TaskUploadPart extends SentPart {
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** Records a part that the store has, in place of an earlier one; false when the task or the upload is over. */
export async function savePart(
  database: Queryable,
  caller: TaskHolder,
  handle: string,
  part: TaskUploadPart,
): Promise<boolean> {
  const rows = await database.query(
    `with claim as (${heldClaim}), upload as materialized (
       select u.handle from task_upload u join claim on claim.task_id = u.task_id
        where u.handle = $4 and u.state = 'open' for key share of u
     )
     insert into task_upload_part (handle, number, size_bytes, sha256, etag)
     select upload.handle, $5::int, $6::bigint, $7, $8 from upload
     on conflict (handle, number)
       do update set size_bytes = excluded.size_bytes, sha256 = excluded.sha256, etag = excluded.etag
     returning 1`,
    [...heldValues(caller), handle, part.number, part.sizeBytes, part.sha256, part.etag],
  );
  return rows.length > 0;
}

/** The parts of an upload in the order of their numbers. */
export async function listParts(database: Queryable, handle: string): Promise<TaskUploadPart[]> {
  return database.query<TaskUploadPart>(
    `select number, size_bytes, sha256, etag from task_upload_part where handle = $1 order by number`,
    [handle],
  );
}

/** Forgets parts that the store holds with other bytes, so that they are sent again. */
export async function forgetParts(
  database: Queryable,
  handle: string,
  numbers: readonly number[],
): Promise<void> {
  await database.query('delete from task_upload_part where handle = $1 and number = any ($2::int[])', [
    handle,
    numbers,
  ]);
}

/** Abandons an open upload, for its holder; false when there is none. */
export async function abandonTaskUpload(
  database: Queryable,
  caller: TaskHolder,
  handle: string,
): Promise<boolean> {
  const rows = await database.query(
    `with claim as (${heldClaim})
     update task_upload u set state = 'over' from claim
      where u.handle = $4 and u.task_id = claim.task_id and u.state = 'open' and u.expires_at > clock_timestamp()
     returning 1`,
    [...heldValues(caller), handle],
  );
  return rows.length > 0;
}

/** Discards an upload that the store lost or never made. */
export async function discardTaskUpload(database: Queryable, handle: string): Promise<void> {
  await database.query(`update task_upload set state = 'over' where handle = $1 and state = 'open'`, [
    handle,
  ]);
}

export interface FinishedUpload {
  readonly handle: string;
  /** In the store; null for an upload that need not be completed, because its identifier is written. */
  readonly object: { readonly sizeBytes: number; readonly etag: string } | null;
  /** Undefined leaves the watermark. */
  readonly watermarkInputId: number | undefined;
}

/**
 * Turns an upload whose object is in the store into an output of its task, once: staged, or published with its
 * watermark, in one transaction. A repeat gets that output, and its watermark moves. If the node already has an output
 * of the identifier, that is the answer, with or without an object, and the object is left to the sweeper.
 */
export async function finishTaskUpload(
  database: Database,
  caller: TaskHolder,
  { handle, object, watermarkInputId }: FinishedUpload,
): Promise<OutputWrite> {
  await failpoint('task-output-stored');
  const written = await (watermarkInputId === undefined
    ? writeTask(database, caller, async (held) => {
        const stage = async (upload: TaskOutput) => unchanged(await stageOutput(held, upload));
        return (await finishWithin(held, handle, object, stage)).result;
      })
    : writeTaskAndSession(database, caller, (held, session) =>
        finishWithin(held, handle, object, (upload) => stageAndMove(held, session, upload, watermarkInputId)),
      )
  ).catch((error) => {
    if (error instanceof PendingObjectGone) return { kind: 'refused', why: 'upload-not-found' } as const;
    throw error;
  });
  await failpoint('task-output-committed');
  return written;
}

async function finishWithin(
  { tx, task }: TaskWrite,
  handle: string,
  object: FinishedUpload['object'],
  write: (upload: TaskOutput) => Promise<Change<WrittenOutput>>,
): Promise<Change<WrittenOutput>> {
  const upload = await findTaskUpload(tx, task.taskId, handle);
  if (upload === undefined) throw new Refused<WriteRefusal>('upload-not-found');
  if (upload.outputId !== null) {
    const { outputIdentifier } = await outputById(tx, upload.outputId);
    return write({ ...upload, ...nothing, outputIdentifier });
  }
  if (upload.state !== 'open' || upload.isExpired) throw new Refused<WriteRefusal>('upload-not-found');
  const made = { ...upload, ...nothing, ...object };
  const contentEncoding = storedEncoding(made.sizeBytes, made.contentEncoding);
  const change = await write({ ...made, contentEncoding });
  const { kind, output } = change.result;
  // The output found before is gone, and there is no object to replace it.
  if (object === null && kind === 'created') throw new Refused<WriteRefusal>('upload-not-found');
  await endUpload(tx, handle, kind === 'created' ? 'done' : 'over', output.id);
  return change;
}

const nothing = { sizeBytes: 0, sha256: null, etag: '' } as const;

async function outputById(tx: Tx, id: number): Promise<NodeOutputRow> {
  const [output] = await tx.query<NodeOutputRow>(
    `select ${outputColumns} from node_output o where o.id = $1`,
    [id],
  );
  if (output === undefined) throw new Refused<WriteRefusal>('upload-not-found');
  return output;
}

/** The parts stay, so that a concurrent completion asks the store for the same object. */
async function endUpload(tx: Tx, handle: string, state: TaskUploadState, outputId: number): Promise<void> {
  await tx.query('update task_upload set state = $2, output_id = $3 where handle = $1', [
    handle,
    state,
    outputId,
  ]);
}
