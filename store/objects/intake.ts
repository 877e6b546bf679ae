/** The incoming bytes of an object: counted, hashed, with little in memory. */
import { createHash, type Hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';

/** The source brought more bytes than allowed. */
export class ObjectTooLarge extends Error {
  constructor(maxBytes: number) {
    super(`More than ${maxBytes} bytes.`);
    this.name = 'ObjectTooLarge';
  }
}

/** The source broke off: the caller hung up or sent fewer bytes than declared. */
export class SourceBroken extends Error {
  constructor(cause?: unknown) {
    super('The source of the bytes was interrupted.', cause === undefined ? undefined : { cause });
    this.name = 'SourceBroken';
  }
}

export interface IntakeOptions {
  readonly maxBytes: number;
  /** Also compute MD5, for callers that sent Content-MD5. */
  readonly withMd5: boolean;
  /** Also compute the CRC-32. */
  readonly withCrc32: boolean;
  readonly onBytes?: (count: number) => void;
}

export interface Digests {
  readonly sha256: string;
  /** Null unless requested. */
  readonly md5: string | null;
}

/** Shared by all intakes of the process, so that many use no more memory than a few. */
const queuedBytesOfAll = 8 * 1024 * 1024;
const queuedBytesAtLeast = 32 * 1024;
const queuedBytesAtMost = 256 * 1024;
let intakes = 0;

function pauseAtBytes(): number {
  return Math.min(queuedBytesAtMost, Math.max(queuedBytesAtLeast, queuedBytesOfAll / Math.max(1, intakes)));
}

const pauseAtChunks = 256;

/**
 * Returns a stream chunk by chunk and can detach from it at any moment without destroying it, because the reply to the
 * caller uses the same socket.
 */
export class Intake {
  readonly #source: Readable;
  readonly #options: IntakeOptions;
  readonly #sha256: Hash = createHash('sha256');
  readonly #md5: Hash | undefined;
  #digests: Digests | undefined;
  #sum = 0;
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  #sizeBytes = 0;
  #isPaused = false;
  #isEnded = false;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(source: Readable, options: IntakeOptions) {
    this.#source = source;
    this.#options = options;
    this.#md5 = options.withMd5 ? createHash('md5') : undefined;
    intakes += 1;
    if (source.destroyed && !source.readableEnded) this.#fail(source.errored ?? undefined);
    source.on('data', this.#onData);
    source.on('end', this.#onEnd);
    source.on('error', this.#onError);
    source.on('close', this.#onClose);
  }

  /** Bytes received so far. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** The checksum of the bytes received so far; 0 unless requested. */
  get crc32(): number {
    return this.#sum;
  }

  /** Why `next` throws, once it does. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** The next chunk; null at the end. Throws SourceBroken, ObjectTooLarge, or what `stop` was given. */
  async next(): Promise<Buffer | null> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      const chunk = this.#queue.shift();
      if (chunk !== undefined) {
        this.#queuedBytes -= chunk.length;
        if (this.#isPaused && this.#queuedBytes < pauseAtBytes() / 2) {
          this.#isPaused = false;
          this.#source.resume();
        }
        return chunk;
      }
      if (this.#isEnded) return null;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Makes `next` throw from now on, including a call that already waits. */
  stop(reason: Error): void {
    this.#fail(reason);
  }

  /** Lower-case hexadecimal digests of everything; not before `next` returned null. */
  digests(): Digests {
    this.#digests ??= { sha256: this.#sha256.digest('hex'), md5: this.#md5?.digest('hex') ?? null };
    return this.#digests;
  }

  /** Call it once. Detaches from the source, which then pauses until another reader takes it. */
  release(): void {
    intakes -= 1;
    this.#source.off('data', this.#onData);
    this.#source.off('end', this.#onEnd);
    this.#source.off('error', this.#onError);
    this.#source.off('close', this.#onClose);
    if (!this.#source.destroyed) this.#source.pause();
    // A later error has no reader left.
    this.#source.on('error', () => {});
    this.#queue = [];
  }

  readonly #onData = (chunk: Buffer): void => {
    if (this.#failure !== undefined) return;
    this.#sizeBytes += chunk.length;
    if (this.#sizeBytes > this.#options.maxBytes) {
      this.#source.pause();
      this.#fail(new ObjectTooLarge(this.#options.maxBytes));
      return;
    }
    this.#options.onBytes?.(chunk.length);
    this.#sha256.update(chunk);
    if (this.#options.withCrc32) this.#sum = crc32(chunk, this.#sum);
    this.#md5?.update(chunk);
    this.#queue.push(chunk);
    this.#queuedBytes += chunk.length;
    if (!this.#isPaused && (this.#queuedBytes >= pauseAtBytes() || this.#queue.length >= pauseAtChunks)) {
      this.#isPaused = true;
      this.#source.pause();
    }
    this.#rouse();
  };
  readonly #onEnd = (): void => {
    this.#isEnded = true;
    this.#rouse();
  };
  readonly #onError = (error: Error): void => this.#fail(new SourceBroken(error));
  readonly #onClose = (): void => {
    if (!this.#isEnded) this.#fail(new SourceBroken());
  };

  #fail(reason: Error | undefined): void {
    this.#failure ??= reason ?? new SourceBroken();
    this.#rouse();
  }

  #rouse(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}
