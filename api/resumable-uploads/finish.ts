/** From a whole resumable upload to an output, or to a place in the queue, as a plain upload. */
import { createHash } from 'node:crypto';
import { Problem } from '../../domain/errors.ts';
import { clientNetwork } from '../../http/server/client-address.ts';
import { type AuditedCall, runAudited } from '../../store/administration/audit-scope.ts';
import { failpoint } from '../../store/connection/failpoint.ts';
import { type DataSourceRow, findDataSource } from '../../store/objects/data-sources.ts';
import { completeMultipart, MultipartGone, PartsDiffer } from '../../store/objects/multipart.ts';
import { type ObjectStore, ObjectStoreError } from '../../store/objects/object-store.ts';
import type { UploadedObject } from '../../store/outputs/outputs.ts';
import { publishUpload } from '../../store/outputs/publish.ts';
import { queueUpload } from '../../store/outputs/queued-uploads.ts';
import {
  discardResumableUpload,
  endResumableUpload,
  findResumableUpload,
  type ResumableUpload,
  saveDigest,
  uploadParts,
  WriterLost,
} from '../../store/uploads/resumable-uploads.ts';
import type { Principal } from '../identity/auth-client.ts';
import { findTarget, publications } from '../node-instances/upload.ts';
import type { Services } from '../services.ts';
import { notifyQueue } from '../uploads/commit-upload.ts';
import { type UploadWriter, uploadBusy } from './writers.ts';

const completeMs = 3_600_000;

/** The call that sends the last byte, as the audit shows it: that of an upload. */
export interface LastCall {
  readonly principal: Principal;
  readonly requestId: string;
  readonly request: {
    readonly remoteAddress: string;
    readonly headers: Readonly<Record<string, string | undefined>>;
  };
}

/**
 * Makes the output of an upload whose bytes are all in the store. Not cancelled when the caller hangs up: the next
 * request finds it done. Safe to repeat from any point.
 * @throws Problem `sessionFrozen`, `nodeInstanceNotFound`, `uploadNotFound`, `uploadBusy`, `unavailable`; the bytes stay
 */
export async function finishUpload(
  services: Services,
  writer: UploadWriter,
  call: LastCall,
): Promise<ResumableUpload> {
  const { database } = services;
  const { id, nodeInstanceId } = writer.upload;
  const found = await findResumableUpload(database, nodeInstanceId, id);
  if (found === undefined) throw new Problem('uploadNotFound');
  if (found.state === 'done') return found;
  const target = await findTarget(database, nodeInstanceId);
  const upload = await assembled(services, found);
  const settle =
    (outputId: number | null, isUsed: boolean) => (tx: Parameters<typeof endResumableUpload>[0]) =>
      endResumableUpload(tx, id, writer.id, outputId, isUsed);
  const publish = async () => {
    const result = target.queuedIngestion
      ? await queueUpload(database, upload, settle(null, true))
      : await publishUpload(database, upload, (tx, { outcome, output }) =>
          settle(output.id, outcome !== 'repeated')(tx),
        );
    if (result.outcome === 'frozen') throw new Problem('sessionFrozen');
    if (result.outcome === 'node-missing') throw new Problem('nodeInstanceNotFound');
    // In a project that queues, a repeat is found before the transaction.
    if (target.queuedIngestion && result.outcome !== 'queued')
      await settle('output' in result ? result.output.id : null, false)(database);
    return result;
  };
  const result = await audited(services, call, nodeInstanceId, () =>
    publications.run(publish, target.sessionId),
  ).catch((error) => {
    throw error instanceof WriterLost ? uploadBusy(error) : error;
  });
  if (result.outcome === 'queued') await notifyQueue(services, result);
  const done = await findResumableUpload(database, nodeInstanceId, id);
  if (done === undefined) throw new Problem('uploadNotFound');
  return done;
}

function audited<T>(
  { database, settings }: Services,
  { principal, requestId, request }: LastCall,
  nodeInstanceId: number,
  work: () => Promise<T>,
): Promise<T> {
  const { remoteAddress, headers } = request;
  const call: AuditedCall = {
    action: 'uploadNodeOutput',
    actorKind: principal.kind === 'offline' ? 'device' : 'user',
    actorId: principal.userId,
    actorRole: principal.role,
    objectType: 'nodeInstance',
    objectId: String(nodeInstanceId),
    requestId,
    network: clientNetwork(remoteAddress, headers['x-forwarded-for'], settings.TRUSTED_PROXIES),
  };
  return runAudited(database, call, work, () => true);
}

/** The object in the store, with its digest. */
async function assembled(services: Services, upload: ResumableUpload): Promise<UploadedObject> {
  const { database, objects } = services;
  const { objectKey, sizeBytes, storeUploadId } = upload;
  const store = objects.of(await sourceOf(services, upload));
  try {
    const parts = await uploadParts(database, upload.id);
    const signal = AbortSignal.timeout(completeMs);
    await completeMultipart(store.multipart(objectKey), storeUploadId ?? '', parts, sizeBytes, signal);
    await failpoint('multipart-completed');
    const sha256 = upload.sha256 ?? (await digestOf(store, objectKey));
    if (upload.sha256 === null) await saveDigest(database, upload.id, sha256);
    const { nodeInstanceId, dataSourceId, outputIdentifier, metadata, contentType } = upload;
    // An empty body cannot be decoded.
    const contentEncoding = sizeBytes === 0 ? null : upload.contentEncoding;
    const said = { nodeInstanceId, dataSourceId, outputIdentifier, metadata, contentType, contentEncoding };
    return { ...said, objectKey, sizeBytes, sha256, etag: sha256 };
  } catch (error) {
    if (error instanceof MultipartGone || error instanceof PartsDiffer) {
      services.log.error({ err: error, upload: upload.id }, 'the store lost parts of an upload');
      await discardResumableUpload(database, upload.id);
      throw new Problem('uploadNotFound', { cause: error });
    }
    throw error instanceof ObjectStoreError ? new Problem('unavailable', { cause: error }) : error;
  }
}

export async function sourceOf(services: Services, upload: ResumableUpload): Promise<DataSourceRow> {
  const dataSource = await findDataSource(services.database, upload.dataSourceId);
  if (dataSource === undefined) throw new Error(`Data source ${upload.dataSourceId} no longer exists.`);
  return dataSource;
}

/** Reads the object again: its bytes came in pieces, of which one was too fast to record its digest. */
async function digestOf(store: ObjectStore, key: string): Promise<string> {
  const { stream } = await store.get(key);
  const hash = createHash('sha256');
  for await (const chunk of stream) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
