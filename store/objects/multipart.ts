/**
 * The calls of multi-part uploads: for objects that arrive as one stream, and for those whose parts arrive one by one.
 */
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
import { answeredInTime, finishInTime, httpStatusOf, toObjectStoreError } from './errors.ts';
import type { StagedPart } from './staging.ts';
import type { StagingArea } from './staging-area.ts';

const shortCallMs = 30_000;
/** The caller has waited for the completion before. */
const headMs = 10_000;

/** An object that is being made of parts. */
export interface MultipartPlace {
  readonly client: S3Client;
  readonly bucket: string;
  readonly key: string;
  readonly staging: StagingArea;
}

export interface SentPart {
  readonly number: number;
  /** The store's own, unchanged. */
  readonly etag: string;
}

/** The store knows no such upload: it was completed or aborted. */
export class MultipartGone extends Error {
  constructor(cause: unknown) {
    super('The store does not know this multi-part upload.', { cause });
    this.name = 'MultipartGone';
  }
}

/** The store holds other parts than it should. */
export class PartsDiffer extends Error {
  /** Numbers of the parts that are to be sent again. */
  readonly numbers: readonly number[];
  constructor(numbers: readonly number[], cause: unknown) {
    super('The store has different parts.', { cause });
    this.name = 'PartsDiffer';
    this.numbers = numbers;
  }
}

/** @returns the store's name for the upload @throws ObjectStoreError */
export async function beginMultipart(
  { client, bucket: Bucket, key: Key }: MultipartPlace,
  abortSignal = AbortSignal.timeout(shortCallMs),
): Promise<string> {
  const command = new CreateMultipartUploadCommand({ Bucket, Key, ContentType: objectContentType });
  try {
    const { UploadId } = await client.send(command, { abortSignal });
    if (UploadId === undefined) throw new Error('The store returned no upload id.');
    return UploadId;
  } catch (error) {
    throw toObjectStoreError(error);
  }
}

export interface PartSend {
  readonly signal: AbortSignal;
  /** Hexadecimal digest of the part where it is known: it is signed, so that the store refuses other bytes. */
  readonly sha256?: string;
  readonly onBytes?: ((count: number) => void) | undefined;
}

/** One request that sends one part, in place of an earlier one of its number. @throws what the store's client throws */
export async function sendPart(
  { client, bucket: Bucket, key: Key }: MultipartPlace,
  UploadId: string,
  PartNumber: number,
  part: StagedPart,
  { signal, sha256, onBytes }: PartSend,
): Promise<string> {
  const input = { Bucket, Key, UploadId, PartNumber, ContentLength: part.sizeBytes };
  const { ETag } = await sendBody(signal, counted(part, onBytes), (Body, abortSignal) => {
    const command = new UploadPartCommand({ ...input, Body });
    if (sha256 !== undefined) setHeaders(command, { 'x-amz-content-sha256': sha256 });
    return client.send(command, { abortSignal });
  });
  if (ETag === undefined) throw new Error('The store acknowledged a part without an ETag.');
  return ETag;
}

/** Whether the store knows the upload. @throws what the store's client throws */
export async function hasMultipart(
  { client, bucket: Bucket, key: Key }: MultipartPlace,
  UploadId: string,
  abortSignal: AbortSignal,
): Promise<boolean> {
  try {
    await client.send(new ListPartsCommand({ Bucket, Key, UploadId, MaxParts: 1 }), { abortSignal });
    return true;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
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
 * Makes the object of its parts, in ascending order. An upload that was already completed counts as completed now.
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
    return await finishInTime(signal, sizeBytes, (within) => complete(place, uploadId, parts, within));
  } catch (error) {
    // A completion whose answer was lost, or after which the process died, has still happened; a second one is refused.
    const stored = (within: AbortSignal) => finishedObject(place, sizeBytes, within);
    const done = await answeredInTime(stored, signal, headMs).catch(() => undefined);
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

/** The tag of the object when it is stored in full length. */
async function finishedObject(
  { client, bucket: Bucket, key: Key }: MultipartPlace,
  sizeBytes: number,
  abortSignal: AbortSignal,
): Promise<string | undefined> {
  const head = await client.send(new HeadObjectCommand({ Bucket, Key }), { abortSignal });
  return head.ContentLength === sizeBytes ? bareEtag(head.ETag) : undefined;
}

/** Numbers of the parts that the store lacks or holds with other bytes. */
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

/**
 * Removes what was sent of an upload.
 * @returns false when the store knows no such upload @throws ObjectStoreError
 */
export async function abortMultipart(
  { client, bucket: Bucket, key: Key }: MultipartPlace,
  UploadId: string,
  timeoutMs = shortCallMs,
): Promise<boolean> {
  try {
    const abortSignal = AbortSignal.timeout(timeoutMs);
    await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }), { abortSignal });
    return true;
  } catch (error) {
    if (isGone(error)) return false;
    throw toObjectStoreError(error);
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

/** Whether the store answered that it knows no such upload. */
export function isGone(error: unknown): boolean {
  const { name } = error as { readonly name?: string };
  return name === 'NoSuchUpload' || (httpStatusOf(error) === 404 && name !== 'NoSuchBucket');
}

function isPartFault(error: unknown): boolean {
  const { name } = error as { readonly name?: string };
  return name === 'InvalidPart' || name === 'InvalidPartOrder';
}
