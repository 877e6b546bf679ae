/**
 * From a whole resumable upload to an output, or to a place in the queue, as a plain upload. Each step is safe to repeat
 * from any point, by any process that is the upload's writer.
 */

import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { storedEncoding } from '../../domain/outputs/output-headers.ts';
import type { Database } from '../connection/database.ts';
import { failpoint } from '../connection/failpoint.ts';
import { type DataSourceRow, findDataSource } from '../objects/data-sources.ts';
import { completeMultipart, MultipartGone, PartsDiffer } from '../objects/multipart.ts';
import type { ObjectStore } from '../objects/object-store.ts';
import type { UploadedObject, UploadTarget } from '../outputs/outputs.ts';
import { forgetLostRepeat, type Stores } from '../outputs/stored-repeat.ts';
import { type PublishResult, publishUpload } from './publish-upload.ts';
import { type QueueResult, queueUpload } from './queued-uploads.ts';
import {
  discardResumableUpload,
  endResumableUpload,
  type HeldUpload,
  type ResumableUpload,
  saveDigest,
  saveProgress,
  uploadParts,
} from './resumable-uploads.ts';

const completeMs = 3_600_000;
const emptyMs = 60_000;

/** The store has lost bytes of the upload, which is given up. */
export class UploadLost extends Error {
  constructor(cause: unknown) {
    super('The store has lost bytes of the upload.', { cause });
    this.name = 'UploadLost';
  }
}

/** Where the bytes of an upload go. */
export async function sourceOf(database: Database, upload: ResumableUpload): Promise<DataSourceRow> {
  const dataSource = await findDataSource(database, upload.dataSourceId);
  if (dataSource === undefined) throw new Error(`Data source ${upload.dataSourceId} no longer exists.`);
  return dataSource;
}

export type AssembledObject = Omit<UploadedObject, 'nodeInstanceId'>;

/** The object in the store, with its digest. @throws UploadLost, ObjectStoreError */
export async function assembleUpload(
  { database, objects }: Stores,
  upload: ResumableUpload,
): Promise<AssembledObject> {
  const { objectKey, sizeBytes, storeUploadId } = upload;
  const store = objects.of(await sourceOf(database, upload));
  await failpoint('upload-whole');
  try {
    const parts = await uploadParts(database, upload.id);
    const signal = AbortSignal.timeout(completeMs);
    if (sizeBytes > 0 || parts.length > 0)
      await completeMultipart(store.multipart(objectKey), storeUploadId ?? '', parts, sizeBytes, signal);
    await failpoint('multipart-completed');
    const sha256 = upload.sha256 ?? (await digestOf(store, objectKey));
    if (upload.sha256 === null) await saveDigest(database, upload.id, sha256);
    const { dataSourceId, outputIdentifier, metadata, contentType } = upload;
    const contentEncoding = storedEncoding(sizeBytes, upload.contentEncoding);
    const fields = { dataSourceId, outputIdentifier, metadata, contentType, contentEncoding };
    const object = { ...fields, objectKey, sizeBytes, sha256, etag: sha256 };
    const { nodeInstanceId } = upload;
    if (nodeInstanceId !== null) await forgetLostRepeat({ database, objects }, { ...object, nodeInstanceId });
    return object;
  } catch (error) {
    if (!(error instanceof MultipartGone || error instanceof PartsDiffer)) throw error;
    await discardResumableUpload(database, upload.id);
    throw new UploadLost(error);
  }
}

/** Reads the object again: its bytes came in pieces, of which one was too fast to record its digest. */
async function digestOf(store: ObjectStore, key: string): Promise<string> {
  const { stream } = await store.get(key);
  const hash = createHash('sha256');
  for await (const chunk of stream) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** Stores the object of an empty upload for which no piece came. @throws WriterLost, ObjectStoreError */
export async function storeEmptyUpload(
  { database, objects }: Stores,
  upload: ResumableUpload,
  writer: string,
): Promise<void> {
  const store = objects.of(await sourceOf(database, upload));
  await store.abortUploads(upload.objectKey);
  const signal = AbortSignal.timeout(emptyMs);
  const { sha256 } = await store.put(upload.objectKey, Readable.from([]), { declaredBytes: 0, signal });
  const progress = { offsetBytes: 0, tail: null, hashState: null, sha256 };
  await saveProgress(database, { id: upload.id, writer }, [], progress);
}

/**
 * Makes the upload an output or puts it into the queue, and ends it in the same transaction.
 * @throws WriterLost
 */
export async function publishWhole(
  database: Database,
  held: HeldUpload,
  object: UploadedObject,
  { queuedIngestion }: Pick<UploadTarget, 'queuedIngestion'>,
): Promise<PublishResult | QueueResult> {
  const { nodeInstanceId } = object;
  const settle =
    (outputId: number | null, isUsed: boolean) => (tx: Parameters<typeof endResumableUpload>[0]) =>
      endResumableUpload(tx, held, { nodeInstanceId, outputId, isUsed });
  if (!queuedIngestion)
    return await publishUpload(database, object, (tx, { outcome, output }) =>
      settle(output.id, outcome !== 'repeated')(tx),
    );
  const result = await queueUpload(database, object, settle(null, true));
  // A repeat is found before the transaction.
  if ('output' in result) await settle(result.output.id, false)(database);
  else if (result.outcome === 'waiting') await settle(null, false)(database);
  return result;
}
