/**
 * From a stream to an object. Three ways, by what is known of the stream:
 *
 * - `small`: it ended within the first 8 MiB. One request, tried again when it fails; the smallest go without the SDK.
 * - `streamed`: its length is declared, at most 5 GiB, and it comes fast. One request that passes the bytes on as they
 *   come. Stores write such an object once; a multi-part one they often assemble by copying at the end. A checksum
 *   after the bytes makes the store refuse a truncated body: some stores accept a request of undeclared content that
 *   ends early.
 * - `parts`: everything else. Each part is staged, sent with a retry, and memory stays flat. A slow caller then never
 *   keeps a request to the store waiting, which stores cut after some seconds.
 */
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { growingPartBytes, minPartBytes, partBytesOf } from '../../domain/outputs/part-size.ts';
import { BytesDiffer, objectContentType, sendBody, setHeaders, trailerHeaders, withTrailer } from './body.ts';
import { type DirectPuts, directBytesAtMost } from './direct-put.ts';
import { answeredInTime, httpStatusOf, passInTime, sendInTime, toObjectStoreError } from './errors.ts';
import type { Intake } from './intake.ts';
import { abortMultipart, bareEtag, beginMultipart, completeMultipart, sendPart } from './multipart.ts';
import { type FillOptions, fillPart, type StagedPart } from './staging.ts';
import type { StagingArea } from './staging-area.ts';

const mebibyte = 1024 * 1024;
const maxSingleRequestBytes = 5 * 1024 * mebibyte;
const fastBytesPerSecond = 4 * mebibyte;
const partsInFlight = 3;
const settleSeconds = 10;
const tidySeconds = 5;
const tidyTries = 5;

/** What is learned about a store during use. */
interface StoreTraits {
  /** True after the store refused a request with its checksum at the end; then everything longer is sent in parts. */
  refusesTrailers: boolean;
}

export interface UploadJob {
  readonly client: S3Client;
  readonly direct: DirectPuts | undefined;
  readonly traits: StoreTraits;
  readonly bucket: string;
  readonly key: string;
  readonly declaredBytes: number | null;
  readonly intake: Intake;
  readonly staging: StagingArea;
  /** Aborting it stops the upload. */
  readonly signal: AbortSignal;
  /** Whose share of the area it uses. */
  readonly caller?: string | undefined;
}

/** Stores everything the intake brings. After a failure nothing is left in the store, if the store answers. */
export async function uploadObject(job: UploadJob): Promise<{ readonly etag: string }> {
  const startedAtMs = performance.now();
  const carry: Carry = { rest: null };
  const { part, isLast } = await fillPart(fillOptions(job, minPartBytes), carry);
  if (isLast) return await usingPart(part, () => putStaged(job, part));
  const seconds = (performance.now() - startedAtMs - part.waitedMs) / 1000;
  const isFast = minPartBytes / Math.max(seconds, 0.001) >= fastBytesPerSecond;
  const fitsOneRequest = job.declaredBytes !== null && job.declaredBytes <= maxSingleRequestBytes;
  if (fitsOneRequest && isFast && !job.traits.refusesTrailers) {
    return await usingPart(part, () => putStreamed(job, part, carry));
  }
  return await putParts(job, part, carry);
}

type Carry = { rest: Buffer | null };

function fillOptions(job: UploadJob, partBytes: number): FillOptions {
  const { staging: area, intake, declaredBytes: expectedBytes, signal, caller } = job;
  return { area, intake, partBytes, expectedBytes, signal, caller };
}

async function usingPart<T>(part: StagedPart, work: () => Promise<T>): Promise<T> {
  let isSent = false;
  try {
    const result = await work();
    isSent = true;
    return result;
  } finally {
    part.dispose(isSent);
  }
}

async function putStaged(job: UploadJob, part: StagedPart): Promise<{ etag: string }> {
  const { sha256 } = job.intake.digests();
  const etag = await putDirectly(job, part, sha256);
  if (etag !== undefined) return { etag: bareEtag(etag) };
  const { ETag } = await sendInTime(job.signal, part.sizeBytes, (signal) =>
    sendBody(signal, part.read(), (Body, abortSignal) => {
      const command = new PutObjectCommand({ ...target(job), Body, ContentLength: part.sizeBytes });
      // The digest that we have already is signed, so that the store refuses other bytes; the SDK hashes no streams.
      setHeaders(command, { 'x-amz-content-sha256': sha256 });
      return job.client.send(command, { abortSignal });
    }),
  );
  return { etag: bareEtag(ETag) };
}

async function putDirectly(job: UploadJob, part: StagedPart, sha256: string): Promise<string | undefined> {
  const { direct, bucket, key, signal } = job;
  if (direct === undefined || part.sizeBytes > directBytesAtMost) return undefined;
  return await direct.put({ bucket, key, bytes: await buffer(part.read()), sha256, signal });
}

async function putStreamed(job: UploadJob, first: StagedPart, carry: Carry): Promise<{ etag: string }> {
  const command = new PutObjectCommand(target(job));
  setHeaders(command, trailerHeaders(job.declaredBytes!));
  try {
    const bytes = withTrailer(bytesOf(first, carry, job.intake), () => job.intake.crc32);
    const result = await passInTime(job.signal, job.declaredBytes!, bytes, (pieces, signal) =>
      sendBody(signal, pieces, (Body, abortSignal) => {
        command.input.Body = Body;
        return job.client.send(command, { abortSignal });
      }),
    );
    return { etag: bareEtag(result.ETag) };
  } catch (error) {
    const status = httpStatusOf(error);
    if (job.intake.failure === undefined && (status === 400 || status === 501))
      job.traits.refusesTrailers = true;
    throw error;
  }
}

async function* bytesOf(first: StagedPart, carry: Carry, intake: Intake): AsyncGenerator<Buffer> {
  // Cannot be sent again: passed bytes are not kept.
  yield* first.read(true);
  for (let chunk = carry.rest ?? (await intake.next()); chunk !== null; chunk = await intake.next())
    yield chunk;
}

async function putParts(job: UploadJob, first: StagedPart, carry: Carry): Promise<{ etag: string }> {
  const sender = new PartSender(job);
  let part: StagedPart | undefined = first;
  try {
    await sender.begin();
    for (let number = 1, isLast = false; part !== undefined; number += 1) {
      await sender.send(number, part);
      part = undefined;
      if (isLast) break;
      const next = await fillPart(fillOptions(job, partBytes(number + 1, job.declaredBytes)), carry);
      isLast = next.isLast;
      if (next.part.sizeBytes > 0) part = next.part;
      else next.part.dispose(false);
    }
    return await sender.complete();
  } catch (error) {
    part?.dispose(false);
    await sender.abandon();
    throw error;
  }
}

function partBytes(number: number, declaredBytes: number | null): number {
  return declaredBytes === null ? growingPartBytes(number) : partBytesOf(declaredBytes);
}

/** One multi-part upload: its parts under way, and its end. */
class PartSender {
  readonly #job: UploadJob;
  readonly #cut = new AbortController();
  readonly #sending = new Set<Promise<void>>();
  readonly #etags: string[] = [];
  #sentBytes = 0;
  #uploadId: string | undefined;

  constructor(job: UploadJob) {
    this.#job = job;
  }

  async begin(): Promise<void> {
    this.#uploadId = await answeredInTime((signal) => beginMultipart(this.#job, signal), this.#job.signal);
  }

  /** Sends the part, which it then owns, and waits while too many are under way. A failed part stops the intake. */
  async send(number: number, part: StagedPart): Promise<void> {
    const sent: Promise<void> = usingPart(part, () => this.#put(number, part)).finally(() =>
      this.#sending.delete(sent),
    );
    sent.catch((error: Error) => this.#job.intake.stop(error));
    this.#sending.add(sent);
    if (this.#sending.size >= partsInFlight) await Promise.race(this.#sending);
  }

  async #put(number: number, part: StagedPart): Promise<void> {
    const { signal } = this.#cut;
    this.#etags[number - 1] = await sendInTime(signal, part.sizeBytes, (within) =>
      sendPart(this.#job, this.#uploadId!, number, part, { signal: within }),
    );
    this.#sentBytes += part.sizeBytes;
  }

  async complete(): Promise<{ etag: string }> {
    await Promise.all(this.#sending);
    const { intake, signal } = this.#job;
    const parts = this.#etags.map((etag, index) => ({ etag, number: index + 1 }));
    if (this.#sentBytes !== intake.sizeBytes) throw new BytesDiffer();
    return { etag: await completeMultipart(this.#job, this.#uploadId!, parts, intake.sizeBytes, signal) };
  }

  /** Leaves nothing in the store. Parts under way may end first: one that ends later would stay. */
  async abandon(): Promise<void> {
    const timer = setTimeout(() => this.#cut.abort(), settleSeconds * 1000);
    await Promise.allSettled(this.#sending);
    clearTimeout(timer);
    if (this.#uploadId === undefined) return;
    for (let tries = 1; tries <= tidyTries; tries += 1) {
      try {
        const wasThere = await abortMultipart(this.#job, this.#uploadId, tidySeconds * 1000);
        if (!wasThere || !this.#cut.signal.aborted) return;
      } catch (error) {
        // Left to the sweeper, which finds it by its key.
        const { httpStatus } = toObjectStoreError(error);
        if (httpStatus === 404 || httpStatus === null) return;
      }
      await sleep(100 * 2 ** tries);
    }
  }
}

function target(job: UploadJob): { Bucket: string; Key: string; ContentType: string } {
  return { Bucket: job.bucket, Key: job.key, ContentType: objectContentType };
}
