/**
 * Multi-part uploads whose parts come in requests of their own. A part is staged until all of it is in and admitted, so
 * that one that breaks off, is too large or does not match its checksum leaves an earlier part of its number as it is,
 * and a slow sender never keeps a request to the store waiting.
 */
import type { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  ListPartsCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { objectContentType, sendBody, setHeaders } from './body.ts';
import { httpStatusOf, toObjectStoreError, withTries } from './errors.ts';
import { type SourceOptions, type StoredBytes, withIntake } from './source.ts';
import { fillPart, type StagedPart } from './staging.ts';
import type { StagingArea } from './staging-area.ts';

const shortCallMs = 30_000;

/** An object that is being made of parts. */
export interface MultipartPlace {
  readonly client: S3Client;
  readonly bucket: string;
  readonly key: string;
  readonly staging: StagingArea;
}

export interface SentPart {
  readonly number: number;
  /** The store's, as it gave it. */
  readonly etag: string;
}

/** The store knows no such upload: it was completed or aborted. */
export class MultipartGone extends Error {
  constructor(cause: unknown) {
    super('The store knows no such multi-part upload.', { cause });
    this.name = 'MultipartGone';
  }
}

/** The store holds other parts than it should. */
export class PartsDiffer extends Error {
  /** Numbers of the parts that are to be sent again. */
  readonly numbers: readonly number[];
  constructor(numbers: readonly number[], cause: unknown) {
    super('The store holds other parts.', { cause });
    this.name = 'PartsDiffer';
    this.numbers = numbers;
  }
}

export interface PartOptions extends SourceOptions {
  readonly maxBytes: number;
  /** Length of the part where it is known. */
  readonly declaredBytes?: number | null;
  /** Called when all bytes are in and before any goes to the store; what it throws refuses the part. */
  readonly admit: (bytes: StoredBytes) => Promise<void>;
}

/** @returns the store's name for the upload @throws ObjectStoreError */
export async function beginMultipart(place: MultipartPlace): Promise<string> {
  const { client, bucket: Bucket, key: Key } = place;
  const command = new CreateMultipartUploadCommand({ Bucket, Key, ContentType: objectContentType });
  try {
    const { UploadId } = await client.send(command, { abortSignal: AbortSignal.timeout(shortCallMs) });
    if (UploadId === undefined) throw new Error('The store made no upload id.');
    return UploadId;
  } catch (error) {
    throw toObjectStoreError(error);
  }
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
      // One byte more than allowed never comes out of the intake, so that the part ends where the source does.
      const { part } = await fillPart({
        area: place.staging,
        intake,
        partBytes: options.maxBytes + 1,
        expectedBytes: options.declaredBytes ?? options.maxBytes,
        signal: options.signal,
      });
      let isSent = false;
      try {
        const bytes = { sizeBytes: part.sizeBytes, ...intake.digests() };
        await options.admit(bytes).catch((error) => {
          refusal = error;
          throw error;
        });
        const etag = await sendPart(place, uploadId, number, part, bytes.sha256, options);
        isSent = true;
        return { ...bytes, etag };
      } finally {
        part.dispose(isSent);
      }
    },
    (error) => error instanceof MultipartGone || (refusal !== undefined && error === refusal),
  );
}

async function sendPart(
  place: MultipartPlace,
  uploadId: string,
  number: number,
  part: StagedPart,
  sha256: string,
  options: PartOptions,
): Promise<string> {
  // Told as a result, because there is no use in another try.
  const sent = await withTries(options.signal, async () => {
    try {
      return { etag: await sendOnce(place, uploadId, number, part, sha256, options) };
    } catch (error) {
      if (await isUploadGone(place, uploadId, error, options.signal)) return { gone: error };
      throw error;
    }
  });
  if ('gone' in sent) throw new MultipartGone(sent.gone);
  return sent.etag;
}

async function sendOnce(
  { client, bucket: Bucket, key: Key }: MultipartPlace,
  UploadId: string,
  PartNumber: number,
  part: StagedPart,
  sha256: string,
  { signal, onBytes }: PartOptions,
): Promise<string> {
  const input = { Bucket, Key, UploadId, PartNumber, ContentLength: part.sizeBytes };
  const { ETag } = await sendBody(signal, counted(part, onBytes), (Body, abortSignal) => {
    const command = new UploadPartCommand({ ...input, Body });
    // The digest that we have already is signed, so that the store refuses other bytes.
    setHeaders(command, { 'x-amz-content-sha256': sha256 });
    return client.send(command, { abortSignal });
  });
  if (ETag === undefined) throw new Error('The store acknowledged a part without an ETag.');
  return ETag;
}

/** Some stores close the connection on a part that they refuse, so that their answer is lost. */
async function isUploadGone(
  { client, bucket: Bucket, key: Key }: MultipartPlace,
  UploadId: string,
  error: unknown,
  abortSignal: AbortSignal,
): Promise<boolean> {
  if (httpStatusOf(error) !== null || abortSignal.aborted) return isGone(error);
  try {
    await client.send(new ListPartsCommand({ Bucket, Key, UploadId, MaxParts: 1 }), { abortSignal });
    return false;
  } catch (failure) {
    return isGone(failure);
  }
}

async function* counted(
  part: StagedPart,
  onBytes: ((count: number) => void) | undefined,
): AsyncGenerator<Buffer> {
  for await (const block of part.read()) {
    onBytes?.(block.length);
    yield block;
  }
}

/**
 * Makes the object of its parts, in ascending order. An upload that was completed before is as good as completed now.
 * @param sizeBytes of the whole object
 * @returns the store's tag of the object, without quotes
 * @throws MultipartGone when there is neither the upload nor the object; PartsDiffer; ObjectStoreError
 */
export async function completeMultipart(
  place: MultipartPlace,
  uploadId: string,
  parts: readonly SentPart[],
  sizeBytes: number,
  signal: AbortSignal,
): Promise<string> {
  try {
    return await complete(place, uploadId, parts, signal);
  } catch (error) {
    // A completion whose answer was lost, or after which the process died, has still happened; a second one is refused.
    const done = await finishedObject(place, sizeBytes, signal).catch(() => undefined);
    if (done !== undefined) return done;
    if (isGone(error)) throw new MultipartGone(error);
    if (isPartFault(error)) throw new PartsDiffer(await differing(place, uploadId, parts, signal), error);
    throw toObjectStoreError(error);
  }
}

async function complete(
  place: MultipartPlace,
  UploadId: string,
  parts: readonly SentPart[],
  abortSignal: AbortSignal,
): Promise<string> {
  const { client, bucket: Bucket, key: Key } = place;
  const Parts = parts.map(({ number, etag }) => ({ PartNumber: number, ETag: etag }));
  // Stores answer 200 before they know the outcome and put an error into the body; the client's SDK reads that as
  // a failure, and an answer without an ETag is none either.
  const command = new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } });
  const { ETag } = await client.send(command, { abortSignal });
  return bareEtag(ETag);
}

/** The tag of the object when it stands there in its full length. */
async function finishedObject(
  { client, bucket: Bucket, key: Key }: MultipartPlace,
  sizeBytes: number,
  abortSignal: AbortSignal,
): Promise<string | undefined> {
  const head = await client.send(new HeadObjectCommand({ Bucket, Key }), { abortSignal });
  return head.ContentLength === sizeBytes ? bareEtag(head.ETag) : undefined;
}

/** Numbers of the parts that the store has not, or has otherwise. */
async function differing(
  { client, bucket: Bucket, key: Key }: MultipartPlace,
  UploadId: string,
  parts: readonly SentPart[],
  abortSignal: AbortSignal,
): Promise<number[]> {
  const stored = new Map<number, string | undefined>();
  try {
    for (let PartNumberMarker: string | undefined; ; ) {
      const input = {
        Bucket,
        Key,
        UploadId,
        ...(PartNumberMarker === undefined ? {} : { PartNumberMarker }),
      };
      const page = await client.send(new ListPartsCommand(input), { abortSignal });
      for (const { PartNumber, ETag } of page.Parts ?? []) stored.set(PartNumber ?? 0, ETag);
      if (page.IsTruncated !== true || page.NextPartNumberMarker === undefined) break;
      PartNumberMarker = page.NextPartNumberMarker;
    }
  } catch (error) {
    throw isGone(error) ? new MultipartGone(error) : toObjectStoreError(error);
  }
  return parts
    .filter(({ number, etag }) => bareEtagOr(stored.get(number)) !== bareEtagOr(etag))
    .map(({ number }) => number);
}

/** Removes what was sent of an upload; one that the store does not know is as good as removed. @throws ObjectStoreError */
export async function abortMultipart(place: MultipartPlace, uploadId: string): Promise<void> {
  const { client, bucket: Bucket, key: Key } = place;
  try {
    await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId: uploadId }), {
      abortSignal: AbortSignal.timeout(shortCallMs),
    });
  } catch (error) {
    if (!isGone(error)) throw toObjectStoreError(error);
  }
}

/** An ETag as it is stored and shown: without quotes. */
export function bareEtag(etag: string | undefined): string {
  if (etag === undefined) throw new Error('The store answered without an ETag.');
  return bareEtagOr(etag)!;
}

function bareEtagOr(etag: string | undefined): string | undefined {
  return etag?.replace(/^W\//, '').replaceAll('"', '');
}

function isGone(error: unknown): boolean {
  const { name } = error as { readonly name?: string };
  return name === 'NoSuchUpload' || (httpStatusOf(error) === 404 && name !== 'NoSuchBucket');
}

function isPartFault(error: unknown): boolean {
  const { name } = error as { readonly name?: string };
  return name === 'InvalidPart' || name === 'InvalidPartOrder';
}
