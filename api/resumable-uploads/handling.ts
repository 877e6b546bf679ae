/** What the routes of resumable uploads do, under the rules of who may and of who writes. */
import { Readable } from 'node:stream';
import type { z } from 'zod';
import { Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import type { HeaderValues } from '../../domain/outputs/output-headers.ts';
import type { PieceChecksum } from '../../domain/outputs/tus.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import type { UploadBody } from '../../http/route.ts';
import { uuid } from '../../http/schemas.ts';
import { isMadeAlready, once, withoutKey } from '../../store/connection/idempotency.ts';
import { newId } from '../../store/connection/ids.ts';
import type { DataSourceRow } from '../../store/objects/data-sources.ts';
import { abortMultipart } from '../../store/objects/multipart.ts';
import { newOutputKey } from '../../store/objects/object-store.ts';
import { sourceOf } from '../../store/uploads/finish-resumable-upload.ts';
import {
  createResumableUpload,
  discardResumableUpload,
  findResumableUpload,
  type NewResumableUpload,
  type ResumableUpload,
} from '../../store/uploads/resumable-uploads.ts';
import type { Services } from '../services.ts';
import { readSaidOfBytes } from '../uploads/receive.ts';
import { finishUpload, type LastCall } from './finish.ts';
import { receivePiece } from './pieces.ts';
import type { resumableUploadSchema } from './schema.ts';
import type { UploadWriter } from './writers.ts';

const emptyBody: UploadBody = { open: () => Readable.from([]), declaredBytes: 0 };

interface Context extends LastCall {
  readonly services: Services;
  readonly params: { readonly nodeInstanceId: number };
  readonly signal: AbortSignal;
  readonly shutdown: AbortSignal;
}

/**
 * The upload that the path names, of this caller.
 * @throws Problem `uploadNotFound`, `notTheUploader`
 */
export async function ownUpload({
  services,
  params,
  principal,
}: Context & { readonly params: { readonly uploadId: string } }): Promise<ResumableUpload> {
  const id = uuid().safeParse(params.uploadId);
  const upload = id.success
    ? await findResumableUpload(services.database, params.nodeInstanceId, id.data)
    : undefined;
  if (upload === undefined) throw new Problem('uploadNotFound');
  if (upload.userId !== principal.userId) throw new Problem('notTheUploader');
  return upload;
}

/**
 * Begins an upload; under an idempotency key once.
 * @param said the headers of a plain upload that say the same
 * @throws Problem of the headers, `tooManyUploads`, `nodeInstanceNotFound`
 */
export async function begin(
  { services, params, principal }: Context,
  dataSource: DataSourceRow,
  said: HeaderValues,
  sizeBytes: number,
): Promise<{ readonly upload: ResumableUpload; readonly isNew: boolean }> {
  const { outputIdentifier, metadata, contentType, contentEncoding } = readSaidOfBytes(said);
  const upload: NewResumableUpload = {
    id: newId(),
    userId: principal.userId,
    nodeInstanceId: params.nodeInstanceId,
    dataSourceId: dataSource.id,
    objectKey: newOutputKey(),
    outputIdentifier,
    metadata,
    contentType,
    contentEncoding,
    sizeBytes,
  };
  const bounds = { atMost: limits.resumableUploadsPerCaller, seconds: limits.resumableUploadSeconds };
  const isNew = !isMadeAlready();
  const made = await services.database.transaction(
    once(
      async (tx) => {
        const expiresAt = await createResumableUpload(tx, upload, bounds);
        return typeof expiresAt === 'string' ? expiresAt : { id: upload.id };
      },
      (result) => typeof result === 'object',
    ),
  );
  if (made === 'too-many') throw new Problem('tooManyUploads');
  if (made === 'node-missing') throw new Problem('nodeInstanceNotFound');
  const found = await findResumableUpload(services.database, params.nodeInstanceId, made.id);
  if (found === undefined) throw new Problem('uploadNotFound');
  return { upload: found, isNew };
}

/**
 * Becomes the upload's writer, stores the piece, and makes the output when all bytes are there.
 * @param offset where the piece begins; null for no piece
 * @throws Problem `uploadOffsetDiffers`; those of `receivePiece` and `finishUpload`
 */
export async function continued(
  context: Context & { readonly body?: UploadBody | undefined },
  upload: ResumableUpload,
  offset: number | null,
  checksum: PieceChecksum | null,
): Promise<ResumableUpload> {
  const { services, signal, shutdown, body } = context;
  const work = async (writer: UploadWriter): Promise<ResumableUpload> => {
    const { offsetBytes, sizeBytes } = writer.upload;
    let reached = offsetBytes;
    if (offset !== null && offset !== offsetBytes) throw new Problem('uploadOffsetDiffers');
    // An empty upload needs no piece, and clients send none when they hear that its offset is its end.
    const isDue = offset !== null || sizeBytes === 0;
    if (isDue && writer.upload.state === 'open')
      reached = await receivePiece(services, writer, { body: body ?? emptyBody, checksum, shutdown });
    return reached === sizeBytes ? await finishUpload(services, writer, context) : await current();
  };
  async function current(): Promise<ResumableUpload> {
    const now = await findResumableUpload(services.database, upload.nodeInstanceId, upload.id);
    if (now === undefined) throw new Problem('uploadNotFound');
    return now;
  }
  const now = await withoutKey(() => services.uploadWriters.during(upload, signal, work));
  if (now !== null) return now;
  if (offset !== null && offset !== upload.sizeBytes) throw new Problem('uploadOffsetDiffers');
  return await current();
}

/** Ends whoever writes, and removes the bytes at once if the store answers; otherwise the sweeper does. */
export async function terminate(context: Context, upload: ResumableUpload): Promise<void> {
  const { services, signal } = context;
  const remove = async ({ upload: { storeUploadId, objectKey } }: UploadWriter): Promise<true> => {
    await discardResumableUpload(services.database, upload.id);
    if (storeUploadId === null) return true;
    const store = services.objects.of(await sourceOf(services.database, upload));
    await abortMultipart(store.multipart(objectKey), storeUploadId).catch((error: unknown) =>
      services.log.warn({ err: error, upload: upload.id }, 'parts of an upload left to the sweeper'),
    );
    return true;
  };
  const isRemoved = upload.state !== 'done' && (await services.uploadWriters.during(upload, signal, remove));
  if (isRemoved !== true) throw new Problem('conflict', { message: 'The upload has become an output.' });
}

export function offsetOf({ state, offsetBytes, expiresAt }: ResumableUpload): Record<string, string> {
  const expires = state === 'done' ? {} : { 'upload-expires': expiresAt.toUTCString() };
  return { 'upload-offset': String(offsetBytes), ...expires };
}

export function endOf(upload: ResumableUpload): Record<string, string> {
  const { outputId } = upload;
  const output = outputId === null ? {} : { 'x-platform-output-id': String(outputId) };
  return { 'x-platform-upload-state': stateOf(upload), ...output };
}

function stateOf({ state, outputId }: ResumableUpload): z.input<typeof resumableUploadSchema>['state'] {
  if (state === 'done') return outputId === null ? 'queued' : 'published';
  return state === 'whole' ? 'finishing' : 'receiving';
}

export function present(upload: ResumableUpload): z.input<typeof resumableUploadSchema> {
  const { id, nodeInstanceId, outputIdentifier, sizeBytes, offsetBytes, outputId, expiresAt } = upload;
  const state = stateOf(upload);
  const numbers = { sizeBytes, offsetBytes };
  return {
    id,
    nodeInstanceId,
    outputIdentifier,
    ...numbers,
    state,
    outputId,
    expiresAt: formatTimestamp(expiresAt),
  };
}
