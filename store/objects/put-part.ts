/**
 * Parts that come in requests of their own. A part is staged until all of it is in and admitted, so that one that breaks
 * off, is too large or does not match its checksum leaves an earlier part of its number as it is, and a slow sender never
 * keeps a request to the store waiting.
 */
import type { Readable } from 'node:stream';
import { httpStatusOf, sendInTime } from './errors.ts';
import {
  hasMultipart,
  isGone,
  MultipartGone,
  type MultipartPlace,
  type PartSend,
  sendPart,
} from './multipart.ts';
import { type SourceOptions, type StoredBytes, withIntake } from './source.ts';
import { fillPart, type StagedPart } from './staging.ts';

export interface PartOptions extends SourceOptions {
  readonly maxBytes: number;
  /** Length of the part where it is known. */
  readonly declaredBytes?: number | null;
  /** Called when all bytes are received and before any is sent to the store; an error from it refuses the part. */
  readonly admit: (bytes: StoredBytes) => Promise<void>;
}

/**
 * Stores one part, in place of an earlier one of its number. The stream is not destroyed when this fails.
 * @throws MultipartGone, ObjectTooLarge, SourceBroken, ObjectStoreError, what `admit` threw, the signal's reason
 */
export async function putPart(
  place: MultipartPlace,
  uploadId: string,
  number: number,
  source: Readable,
  options: PartOptions,
): Promise<StoredBytes & { readonly etag: string }> {
  let refusal: unknown;
  return await withIntake(
    source,
    options,
    async (intake) => {
      // The intake never returns one byte more than allowed, so that the part ends where the source does.
      const { part } = await fillPart({
        area: place.staging,
        intake,
        partBytes: options.maxBytes + 1,
        expectedBytes: options.declaredBytes ?? options.maxBytes,
        signal: options.signal,
        caller: options.caller,
      });
      let isSent = false;
      try {
        const bytes = { sizeBytes: part.sizeBytes, ...intake.digests() };
        await options.admit(bytes).catch((error) => {
          refusal = error;
          throw error;
        });
        const etag = await sendUnlessGone(place, uploadId, number, part, {
          ...options,
          sha256: bytes.sha256,
        });
        isSent = true;
        return { ...bytes, etag };
      } finally {
        part.dispose(isSent);
      }
    },
    (error) => error instanceof MultipartGone || (refusal !== undefined && error === refusal),
  );
}

async function sendUnlessGone(
  place: MultipartPlace,
  uploadId: string,
  number: number,
  part: StagedPart,
  options: PartSend,
): Promise<string> {
  // Returned as a result, because a retry is of no use.
  const sent = await sendInTime(options.signal, part.sizeBytes, async (signal) => {
    try {
      return { etag: await sendPart(place, uploadId, number, part, { ...options, signal }) };
    } catch (error) {
      if (await isUploadGone(place, uploadId, error, signal)) return { gone: error };
      throw error;
    }
  });
  if ('gone' in sent) throw new MultipartGone(sent.gone);
  return sent.etag;
}

/** Some stores close the connection on a part that they refuse, so that their answer is lost. */
async function isUploadGone(
  place: MultipartPlace,
  uploadId: string,
  error: unknown,
  signal: AbortSignal,
): Promise<boolean> {
  if (httpStatusOf(error) !== null || signal.aborted) return isGone(error);
  return !(await hasMultipart(place, uploadId, signal).catch(() => true));
}
