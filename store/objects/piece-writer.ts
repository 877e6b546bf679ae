/**
 * Pieces of an upload that may break off anywhere: full parts go to a multi-part upload as they fill, and the bytes
 * after the last of them into an object of their own, the tail, from which the next piece goes on. What is recorded
 * after each part is enough for any process to continue.
 */
import { createHash, type Hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { limits } from '../../domain/limits.ts';
import { mayHaveShortParts, partBytesOf } from '../../domain/outputs/part-size.ts';
import { toObjectStoreError, withTries } from './errors.ts';
import type { Intake } from './intake.ts';
import { isGone, MultipartGone, type MultipartPlace, sendPart } from './multipart.ts';
import { RunningHash } from './running-hash.ts';
import { withIntake } from './source.ts';
import { StagedPart } from './staging.ts';

const mebibyte = 1024 * 1024;
const partsInFlight = 3;
const sendSeconds = 120;
/** Faster pieces are hashed by the platform's own code alone: its state cannot be recorded, but it is much faster. */
const fastBytesPerSecond = 24 * mebibyte;

export interface StoredPiece {
  readonly number: number;
  /** The store's own, unchanged. */
  readonly etag: string;
  readonly sizeBytes: number;
}

interface Tail {
  readonly key: string;
  readonly sizeBytes: number;
}

/** How far an upload is. */
export interface PieceProgress {
  readonly offsetBytes: number;
  readonly tail: Tail | null;
  /** State of the SHA-256 at the offset; null where it is not known. */
  readonly hashState: Buffer | null;
  /** Hexadecimal, of the whole; null before the end, and where it is not known. */
  readonly sha256: string | null;
}

/** The record of an upload, fenced against other writers. */
export interface PieceRecord {
  /** The number of a part that is to be sent; none is given out twice. */
  reserve(): Promise<number>;
  save(parts: readonly StoredPiece[], progress: PieceProgress): Promise<void>;
  openTail(tail: Tail): Promise<Readable>;
  /** @throws StagingFull, ObjectStoreError */
  putTail(bytes: Readable, sizeBytes: number): Promise<Tail>;
}

export interface PieceJob {
  readonly place: MultipartPlace;
  readonly storeUploadId: string;
  /** Whose share of the room for bytes on their way it uses. */
  readonly caller?: string | undefined;
  /** The size of the whole upload. */
  readonly sizeBytes: number;
  readonly from: PieceProgress;
  readonly record: PieceRecord;
  /** What the piece must match: nothing of it is recorded before. */
  readonly checksum: { readonly algorithm: string; readonly digest: string } | null;
  /** Aborted when another request takes over, or the process stops: what has come is recorded. */
  readonly stop: AbortSignal;
}

/** The piece does not match its checksum; nothing of it was recorded. */
export class PieceDiffers extends Error {
  constructor() {
    super('The piece does not match its checksum.');
    this.name = 'PieceDiffers';
  }
}

/**
 * Stores a piece. When it breaks off, what has come is recorded, and the error passed on; with a checksum nothing is.
 * @returns the new offset
 * @throws PieceDiffers, ObjectTooLarge, SourceBroken, StagingFull, ObjectStoreError, the reason of `stop`, errors of
 *   the record and of the store's client
 */
export async function storePiece(source: Readable, job: PieceJob): Promise<number> {
  const { sizeBytes, from, stop } = job;
  const options = { maxBytes: sizeBytes - from.offsetBytes, signal: stop };
  return await withIntake(
    source,
    options,
    async (intake) => {
      const writer = new PieceWriter(job, intake, await RunningHash.from(from));
      return await writer.run();
    },
    () => true,
  );
}

class PieceWriter {
  readonly #job: PieceJob;
  readonly #intake: Intake;
  readonly #hash: RunningHash;
  readonly #checksum: Hash | null;
  readonly #startedAtMs = performance.now();
  /** Parts that are being sent and recorded, in their order. */
  #underWay: Promise<void>[] = [];
  #recorded: Promise<void> = Promise.resolve();
  #number: Promise<number> = Promise.resolve(0);
  /** With a checksum: parts to be recorded at the end. */
  readonly #unrecorded: StoredPiece[] = [];
  #part: StagedPart;
  #partBytes: number;
  /** All bytes up to the end of the part that is being filled. */
  #offsetBytes: number;

  constructor(job: PieceJob, intake: Intake, hash: RunningHash) {
    this.#job = job;
    this.#intake = intake;
    this.#hash = hash;
    this.#checksum = job.checksum === null ? null : createHash(job.checksum.algorithm);
    this.#offsetBytes = job.from.offsetBytes;
    this.#partBytes = partBytesOf(job.sizeBytes);
    this.#part = this.#newPart();
  }

  async run(): Promise<number> {
    try {
      const failure = await this.#receive();
      if (this.#checksum !== null) this.#check(failure);
      await this.#finish();
      if (failure !== undefined) throw failure;
      return this.#offsetBytes;
    } finally {
      this.#part.dispose(false);
      await Promise.allSettled(this.#underWay);
    }
  }

  /** @returns why the piece broke off; undefined at its end */
  async #receive(): Promise<unknown> {
    try {
      const { tail } = this.#job.from;
      if (tail !== null) await this.#readTail(tail);
      for (let chunk = await this.#intake.next(); chunk !== null; chunk = await this.#intake.next())
        await this.#append(chunk);
      return undefined;
    } catch (error) {
      if (this.#intake.failure === undefined || error !== this.#intake.failure) throw error;
      return error;
    }
  }

  async #readTail(tail: Tail): Promise<void> {
    const stream = await this.#job.record.openTail(tail);
    for await (const chunk of stream) await this.#part.append(chunk as Buffer);
    if (this.#part.sizeBytes !== tail.sizeBytes) throw new Error('The tail is shorter than recorded.');
  }

  async #append(chunk: Buffer): Promise<void> {
    for (let at = 0; at < chunk.length; ) {
      const bytes = chunk.subarray(at, at + this.#partBytes - this.#part.sizeBytes);
      await this.#part.append(bytes);
      this.#hash.update(bytes);
      this.#checksum?.update(bytes);
      this.#offsetBytes += bytes.length;
      at += bytes.length;
      if (this.#part.sizeBytes >= this.#partBytes && this.#offsetBytes < this.#job.sizeBytes)
        await this.#sendFull();
    }
  }

  async #sendFull(): Promise<void> {
    const seconds = (performance.now() - this.#startedAtMs) / 1000;
    const received = this.#offsetBytes - this.#job.from.offsetBytes;
    if (received / Math.max(seconds, 0.001) >= fastBytesPerSecond) this.#hash.leaveToPlatform();
    this.#send(this.#progress(null));
    if (this.#underWay.length >= partsInFlight) await this.#underWay.shift();
  }

  #progress(tail: Tail | null): PieceProgress {
    const { sizeBytes } = this.#job;
    const offsetBytes = this.#offsetBytes;
    const isWhole = offsetBytes === sizeBytes && tail === null;
    return isWhole
      ? { offsetBytes, tail, hashState: null, sha256: this.#hash.digest(this.#intake) }
      : { offsetBytes, tail, hashState: this.#hash.state(), sha256: null };
  }

  /** Sends the part, which is recorded after those before it. */
  #send(progress: PieceProgress): void {
    const part = this.#part;
    this.#part = this.#newPart();
    part.filled();
    const recorded = Promise.all([this.#put(part), this.#recorded]).then(async ([piece]) => {
      if (this.#checksum !== null) this.#unrecorded.push(piece);
      else await this.#job.record.save([piece], progress);
    });
    recorded.catch((error: Error) => this.#intake.stop(error));
    this.#recorded = recorded;
    this.#underWay.push(recorded);
  }

  async #put(part: StagedPart): Promise<StoredPiece> {
    const { place, storeUploadId, record } = this.#job;
    let isSent = false;
    try {
      // One after the other: the order of the numbers is that of the bytes.
      const reserved = this.#number.then(() => record.reserve());
      this.#number = reserved;
      const number = await reserved;
      const etag = await storing((signal) => sendPart(place, storeUploadId, number, part, { signal }));
      isSent = true;
      return { number, etag, sizeBytes: part.sizeBytes };
    } finally {
      part.dispose(isSent);
    }
  }

  #check(failure: unknown): void {
    if (failure !== undefined) throw failure;
    if (this.#checksum!.digest('hex') !== this.#job.checksum!.digest) throw new PieceDiffers();
  }

  /** The rest becomes a part where it may be one, else the tail. */
  async #finish(): Promise<void> {
    const { sizeBytes, from, record } = this.#job;
    if (this.#offsetBytes === from.offsetBytes && sizeBytes > 0) return;
    const isPart = this.#offsetBytes === sizeBytes || this.#part.sizeBytes >= shortPartBytes(sizeBytes);
    const before = this.#progress(null);
    if (isPart) this.#send(before);
    await this.#recorded;
    const rest = this.#part;
    if (rest.sizeBytes > 0) {
      rest.filled();
      const tail = await record.putTail(Readable.from(rest.read()), rest.sizeBytes);
      await record.save(this.#unrecorded, { ...before, tail });
    } else if (this.#unrecorded.length > 0) await record.save(this.#unrecorded, before);
  }

  // Its bytes are recorded although the caller is gone, so they wait for room all the same.
  #newPart(): StagedPart {
    return new StagedPart(
      this.#job.place.staging,
      this.#partBytes,
      new AbortController().signal,
      this.#job.caller,
    );
  }
}

/** The least that becomes a part where a piece ends. */
function shortPartBytes(sizeBytes: number): number {
  return mayHaveShortParts(sizeBytes) ? limits.uploadPartMinBytes : partBytesOf(sizeBytes);
}

/** @throws MultipartGone, ObjectStoreError */
async function storing<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const signal = AbortSignal.timeout(sendSeconds * 1000);
  // Returned as a result, because a retry is of no use.
  const done = await withTries(signal, async () => {
    try {
      return { result: await work(signal) };
    } catch (error) {
      if (isGone(error)) return { gone: error };
      throw error;
    }
  }).catch((error) => {
    throw toObjectStoreError(error);
  });
  if ('gone' in done) throw new MultipartGone(done.gone);
  return done.result;
}
