/** What the routes of resumable uploads do, under the rules of who may and of who writes. */
import { Readable } from 'node:stream';
import { Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import type { HeaderValues } from '../../domain/outputs/output-headers.ts';
import {
  type PieceChecksum,
  readByteCount,
  readPieceChecksum,
  readUploadMetadata,
  requireTus,
} from '../../domain/outputs/tus.ts';
import type { UploadBody } from '../../http/route.ts';
import { uuid } from '../../http/schemas.ts';
import {
  hasKey,
  idUnderKey,
  isMadeAlready,
  noteKeyedBody,
  oncePerKey,
  withoutKey,
} from '../../store/connection/idempotency.ts';
import { newId } from '../../store/connection/ids.ts';
import type { DataSourceRow } from '../../store/objects/data-sources.ts';
import { abortMultipart } from '../../store/objects/multipart.ts';
import { newOutputKey } from '../../store/objects/object-store.ts';
import { createResumableUpload, findBegun } from '../../store/uploads/begin-resumable-upload.ts';
import { sourceOf } from '../../store/uploads/finish-resumable-upload.ts';
import {
  discardResumableUpload,
  findResumableUpload,
  type NewResumableUpload,
  type ResumableUpload,
} from '../../store/uploads/resumable-uploads.ts';
import { shareKeyOf } from '../caller-shares.ts';
import type { Principal } from '../identity/auth-client.ts';
import type { Services } from '../services.ts';
import { readUploadHeaders } from '../uploads/receive.ts';
import { type Piece, receivePiece, requireRoom } from './pieces.ts';
import { requirePieceType } from './present.ts';
import type { UploadWriter } from './writers.ts';

const emptyBody: UploadBody = { open: () => Readable.from([]), declaredBytes: 0 };

interface Context {
  readonly services: Services;
  readonly signal: AbortSignal;
  readonly shutdown: AbortSignal;
}

type PieceContext = Context & { readonly body?: UploadBody | undefined } & Pick<Piece, 'requireStill'>;
type Finish = (writer: UploadWriter) => Promise<ResumableUpload>;

/** Where an upload goes, and who may continue it. */
type UploadPlace = Pick<NewResumableUpload, 'userId' | 'nodeInstanceId' | 'ingestId'>;

/** The upload that a path names, to a node or to an ingest. @throws Problem `uploadNotFound` */
export async function namedUpload(services: Services, uploadId: string): Promise<ResumableUpload> {
  const id = uuid().safeParse(uploadId);
  if (!id.success) throw new Problem('uploadNotFound');
  return await uploadNow(services, id.data);
}

/** The upload as it is now. @throws Problem `uploadNotFound` */
export async function uploadNow({ database }: Services, id: string): Promise<ResumableUpload> {
  const upload = await findResumableUpload(database, id);
  if (upload === undefined) throw new Problem('uploadNotFound');
  return upload;
}

/** What the headers of a creation say of the upload, as the headers of a plain upload. @throws Problem */
export function readCreationHeaders(headers: HeaderValues): HeaderValues {
  requireTus(headers);
  return readUploadMetadata(headers);
}

/**
 * Whose share of unfinished uploads a new one uses: devices of one Administrator, and callers of an ingest, have one name
 * together. A digest, since it may come from an address.
 */
export function shareOf(
  { settings, objects }: Services,
  caller: Principal | null,
  request: Parameters<typeof shareKeyOf>[1],
): string {
  const key = shareKeyOf(caller, request, settings.TRUSTED_PROXIES);
  return objects.secrets.digest(key, 'uploader').toString('base64url');
}

interface Creation {
  readonly place: UploadPlace;
  /** {@link shareOf} */
  readonly countedFor: string;
  readonly dataSource: Pick<DataSourceRow, 'id'>;
  /** From {@link readCreationHeaders}. */
  readonly creationHeaders: HeaderValues;
  /** `Upload-Metadata` as it was sent. */
  readonly uploadMetadata: string | undefined;
  readonly sizeBytes: number;
}

/**
 * Begins an upload, under an idempotency key once, and stores the bytes that came with it.
 * @param finish makes what becomes of it
 * @throws Problem of the headers, `bodyTooLarge`, `tooManyUploads`, `nodeInstanceNotFound`, `ingestNotFound`; those of {@link appendPiece}
 */
export async function createUpload(
  context: PieceContext & { readonly body: UploadBody; readonly request: { readonly headers: HeaderValues } },
  creation: Creation,
  finish: Finish,
): Promise<ResumableUpload> {
  const { body, request, services } = context;
  if (body.declaredBytes !== 0) requirePieceType(request.headers);
  const checksum = readPieceChecksum(request.headers);
  // A refusal has no address by which the upload could be continued; it would stand for a day.
  requireRoom(body, creation.sizeBytes);
  const { upload, isNew } = await begin(services, creation);
  const isDue = isNew && (body.declaredBytes !== 0 || creation.sizeBytes === 0);
  if (!isDue) return upload;
  try {
    const now = await appendPiece(context, upload, { offset: 0, checksum }, finish);
    // The body was all of it: a repeat under the key is compared with these bytes.
    if (now.state === 'done' && now.sha256 !== null)
      noteKeyedBody({ sha256: now.sha256, sizeBytes: now.sizeBytes });
    return now;
  } catch (error) {
    // A repeat under the key is answered with its address.
    if (!hasKey()) await discardResumableUpload(services.database, upload.id).catch(() => undefined);
    throw error;
  }
}

/**
 * Begins an upload; under an idempotency key once. An upload may take longer than its key is remembered: then it is
 * found by the id that its key gives it.
 */
async function begin(
  services: Services,
  { place, countedFor, dataSource, creationHeaders, uploadMetadata, sizeBytes }: Creation,
): Promise<{ readonly upload: ResumableUpload; readonly isNew: boolean }> {
  const { outputIdentifier, metadata, contentType, contentEncoding } = readUploadHeaders(creationHeaders);
  const upload: NewResumableUpload = {
    ...place,
    id: newId(),
    dataSourceId: dataSource.id,
    objectKey: newOutputKey(),
    outputIdentifier,
    metadata,
    contentType,
    contentEncoding,
    sizeBytes,
    uploadMetadata: uploadMetadata || null,
  };
  const bounds = {
    countedFor,
    atMost: limits.resumableUploadsPerCaller,
    seconds: limits.resumableUploadSeconds,
  };
  let isNew = !isMadeAlready();
  const ofKey = idUnderKey();
  const made = await services.database.transaction(
    oncePerKey(
      async (tx) => {
        const begun = ofKey === null ? 'other' : await findBegun(tx, ofKey, upload);
        isNew = begun !== 'same';
        const id = begun === 'other' || ofKey === null ? upload.id : ofKey;
        if (!isNew) return { id };
        const expiresAt = await createResumableUpload(tx, { ...upload, id }, bounds);
        return typeof expiresAt === 'string' ? expiresAt : { id };
      },
      (result) => typeof result === 'object',
    ),
  );
  if (made === 'too-many') throw new Problem('tooManyUploads');
  if (made === 'missing')
    throw new Problem(place.ingestId === null ? 'nodeInstanceNotFound' : 'ingestNotFound');
  return { upload: await uploadNow(services, made.id), isNew };
}

interface NextPiece {
  /** Where it begins. */
  readonly offset: number;
  readonly checksum: PieceChecksum | null;
}

/** The piece that a `PATCH` announces. @throws Problem of the headers */
export function readPiece(headers: HeaderValues): NextPiece {
  requireTus(headers);
  requirePieceType(headers);
  return { offset: readByteCount(headers, 'Upload-Offset'), checksum: readPieceChecksum(headers) };
}

/**
 * Becomes the upload's writer, stores the piece, and makes the output when all bytes are there.
 * @param piece null for none
 * @param finish makes what becomes of it
 * @throws Problem `uploadOffsetDiffers`; those of `receivePiece` and `finish`
 */
export async function appendPiece(
  context: PieceContext,
  upload: ResumableUpload,
  piece: NextPiece | null,
  finish: Finish,
): Promise<ResumableUpload> {
  const { services, signal, shutdown, body = emptyBody, requireStill } = context;
  const { offset = null, checksum = null } = piece ?? {};
  const work = async (writer: UploadWriter): Promise<ResumableUpload> => {
    const { offsetBytes, sizeBytes } = writer.upload;
    let reached = offsetBytes;
    if (offset !== null && offset !== offsetBytes) throw new Problem('uploadOffsetDiffers');
    // An empty upload needs no piece, and clients send none when they hear that its offset is its end.
    const isDue = offset !== null || sizeBytes === 0;
    if (isDue && writer.upload.state === 'open')
      reached = await receivePiece(services, writer, { body, checksum, shutdown, signal, requireStill });
    return reached === sizeBytes ? await finish(writer) : await uploadNow(services, upload.id);
  };
  const isDone = upload.state === 'done';
  const now = isDone ? null : await withoutKey(() => services.uploadWriters.during(upload, signal, work));
  if (now !== null) return now;
  if (offset !== null && offset !== upload.sizeBytes) throw new Problem('uploadOffsetDiffers');
  requireRoom(body, upload.sizeBytes, upload.sizeBytes);
  return await uploadNow(services, upload.id);
}

/** Ends the present writer, and removes the bytes at once if the store answers; otherwise the sweeper does. */
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
