/** The pieces of a resumable upload: from a request's bytes to parts in the store. */
import type { Readable } from 'node:stream';
import { Problem } from '../../domain/errors.ts';
import type { PieceChecksum } from '../../domain/outputs/tus.ts';
import type { UploadBody } from '../../http/route.ts';
import { abortMultipart, beginMultipart, MultipartGone } from '../../store/objects/multipart.ts';
import { newOutputKey, type ObjectStore } from '../../store/objects/object-store.ts';
import { PieceDiffers, type PieceRecord, storePiece } from '../../store/objects/piece-writer.ts';
import { nameResumableUpload } from '../../store/uploads/begin-resumable-upload.ts';
import { sourceOf } from '../../store/uploads/finish-resumable-upload.ts';
import {
  beginTail,
  discardResumableUpload,
  type ResumableUpload,
  reservePart,
  saveProgress,
  WriterLost,
} from '../../store/uploads/resumable-uploads.ts';
import { uploadEnded } from '../../telemetry/metrics.ts';
import type { Services } from '../services.ts';
import { bytesProblem, storeProblem } from '../uploads/bytes-problem.ts';
import { UploadInUse, type UploadWriter, uploadBusy } from './writers.ts';

const tailSeconds = 60;

export interface Piece {
  readonly body: UploadBody;
  readonly checksum: PieceChecksum | null;
  /** Aborted when the process begins to stop. */
  readonly shutdown: AbortSignal;
  /** Aborted when the call is cut short. */
  readonly signal: AbortSignal;
  /** Throws where its caller may no longer go on; called before the last byte counts. */
  readonly requireStill?: (() => Promise<void>) | undefined;
}

/**
 * Stores a piece at the upload's offset. What came before it broke off is kept.
 * @returns the new offset
 * @throws Problem `bodyTooLarge`, `pieceChecksumMismatch`, `malformedRequest`, `requestTimeout`, `uploadBusy`,
 *   `uploadNotFound`, `unavailable`; those of `requireStill`
 */
export async function receivePiece(
  services: Services,
  writer: UploadWriter,
  { body, checksum, shutdown, signal, requireStill }: Piece,
): Promise<number> {
  const { upload } = writer;
  requireRoom(body, upload.sizeBytes, upload.offsetBytes);
  const startedAtMs = performance.now();
  let storedBytes: number | null = null;
  try {
    const store = services.objects.of(await sourceOf(services.database, upload));
    const place = store.multipart(upload.objectKey);
    const { offsetBytes, tailKey, tailBytes, hashState, sha256 } = upload;
    const tail = tailKey === null ? null : { key: tailKey, sizeBytes: tailBytes };
    const end = await storePiece(body.open(), {
      place,
      storeUploadId: upload.storeUploadId ?? (await beginAtStore(services, store, upload)),
      sizeBytes: upload.sizeBytes,
      from: { offsetBytes, tail, hashState, sha256 },
      record: recordOf(services, store, writer, requireStill),
      checksum,
      caller: body.caller,
      stop: AbortSignal.any([writer.stop, shutdown, refusalOf(signal)]),
    });
    storedBytes = end - offsetBytes;
    return end;
  } catch (error) {
    if (error instanceof MultipartGone) await discardResumableUpload(services.database, upload.id);
    // What has come is kept; another process takes the rest.
    if (shutdown.aborted && error === shutdown.reason) throw new Problem('unavailable');
    throw asRefusal(error, upload);
  } finally {
    uploadEnded('piece', (performance.now() - startedAtMs) / 1000, storedBytes);
  }
}

/** @returns the store's name for the upload */
async function beginAtStore(
  { database }: Services,
  store: ObjectStore,
  { id, objectKey }: ResumableUpload,
): Promise<string> {
  // One that began it before may have died before it could record the store's name.
  await store.abortUploads(objectKey);
  const place = store.multipart(objectKey);
  const storeUploadId = await beginMultipart(place);
  if (await nameResumableUpload(database, id, storeUploadId)) return storeUploadId;
  await abortMultipart(place, storeUploadId).catch(() => undefined);
  throw new WriterLost();
}

/** Aborted when the platform refuses the rest. A caller that hangs up is noticed by its bytes, when all that came are read. */
function refusalOf(signal: AbortSignal): AbortSignal {
  const refused = new AbortController();
  const pass = () => {
    if (signal.reason instanceof Problem) refused.abort(signal.reason);
  };
  if (signal.aborted) pass();
  else signal.addEventListener('abort', pass, { once: true });
  return refused.signal;
}

function recordOf(
  { database }: Services,
  store: ObjectStore,
  { id: writer, upload }: UploadWriter,
  requireStill: Piece['requireStill'],
): PieceRecord {
  const held = { id: upload.id, writer };
  return {
    reserve: () => reservePart(database, held),
    async save(parts, progress) {
      // From then on a worker finishes it without its caller.
      if (progress.offsetBytes === upload.sizeBytes) await requireStill?.();
      await saveProgress(database, held, parts, progress);
    },
    openTail: async ({ key }) => (await store.get(key)).stream,
    async putTail(bytes: Readable, sizeBytes) {
      const key = newOutputKey();
      await beginTail(database, upload.dataSourceId, key);
      const signal = AbortSignal.timeout(tailSeconds * 1000);
      await store.put(key, bytes, { declaredBytes: sizeBytes, signal });
      return { key, sizeBytes };
    },
  };
}

/** Refuses a body that says it is longer than the rest of the upload. @throws Problem `bodyTooLarge` */
export function requireRoom({ declaredBytes }: UploadBody, sizeBytes: number, offsetBytes = 0): void {
  if ((declaredBytes ?? 0) > sizeBytes - offsetBytes) throw tooLong(sizeBytes);
}

const tooLong = (sizeBytes: number) =>
  new Problem('bodyTooLarge', { message: `The upload was announced with ${sizeBytes} bytes.` });

function asRefusal(error: unknown, upload: ResumableUpload): unknown {
  if (error instanceof PieceDiffers) return new Problem('pieceChecksumMismatch');
  if (error instanceof UploadInUse || error instanceof WriterLost) return uploadBusy(error);
  if (error instanceof MultipartGone) return new Problem('uploadNotFound', { cause: error });
  return storeProblem(bytesProblem(error, { tooLarge: tooLong(upload.sizeBytes) }));
}
