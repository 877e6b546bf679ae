/**
 * Room for bytes between their arrival and their storage: a fixed number of memory blocks, and a file in a configured
 * folder for what does not fit, bounded too. A part that needs more waits until others are sent.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../domain/limits.ts';
import { type GrowingPart, StagingShares } from '../../domain/outputs/staging-shares.ts';

export const blockBytes = 64 * 1024;
const diskFullPauseMs = 250;

/** No room came in time, or there will never be enough. */
export class StagingFull extends Error {
  constructor(cause?: unknown) {
    super('There is no space to stage more bytes.', cause === undefined ? undefined : { cause });
    this.name = 'StagingFull';
  }
}

export interface StagingOptions {
  /** Folder of the file; default: the system's for temporary files. */
  readonly folder?: string;
  /** Most bytes of the file. */
  readonly maxBytes?: number;
  /** How long a part waits for room. */
  readonly waitSeconds?: number;
}

/** Something that is being filled. */
export interface FillingPart extends GrowingPart {
  /** Aborted when it is no longer wanted. */
  readonly signal: AbortSignal;
}

/** A full block: in memory, or the number of its place in the file. */
export type Piece = Buffer | number;

interface Waiter {
  readonly part: FillingPart;
  readonly grant: (piece: Piece) => void;
}

export class StagingArea {
  readonly #options: Required<StagingOptions>;
  readonly #freeMemory: Buffer[] = [];
  #unmadeMemory = limits.stagingMemoryBytes / blockBytes;
  #file: Promise<FileHandle> | undefined;
  #freePlaces: number[] = [];
  #madePlaces = 0;
  readonly #maxPlaces: number;
  #waiters: Waiter[] = [];
  readonly #shares: StagingShares;

  constructor(options: StagingOptions = {}) {
    this.#options = {
      folder: tmpdir(),
      maxBytes: limits.stagingBytesDefault,
      waitSeconds: limits.stagingWaitSeconds,
      ...options,
    };
    this.#maxPlaces = Math.floor(this.#options.maxBytes / blockBytes);
    this.#shares = new StagingShares(this.#maxPlaces + limits.stagingMemoryBytes / blockBytes);
  }

  /** A memory block for a part, if one is free at once. */
  acquireMemory(part: FillingPart): Buffer | undefined {
    this.#shares.grow(part);
    if (this.#freeMemory.length + this.#unmadeMemory === 0) return undefined;
    if (this.#waiters.length > 0 || !this.#shares.mayAcquire(part)) return undefined;
    this.#shares.acquire(part);
    return this.#memory();
  }

  /** Stores a full block of a part. @throws StagingFull, the signal's reason, what the file system throws */
  async store(part: FillingPart, block: Buffer): Promise<Piece> {
    this.#shares.grow(part);
    const untilMs = performance.now() + this.#options.waitSeconds * 1000;
    for (;;) {
      const piece = await this.#acquire(part, untilMs);
      if (typeof piece !== 'number') {
        block.copy(piece);
        return piece;
      }
      try {
        await this.#write(block, piece);
        return piece;
      } catch (error) {
        this.release(part, piece, true);
        if (!isDiskFull(error)) throw error;
        // Other programs fill the disk too, so it may be full earlier than computed.
        if (performance.now() > untilMs) throw new StagingFull(error);
        await sleep(diskFullPauseMs, undefined, { signal: part.signal });
      }
    }
  }

  async read(piece: Piece): Promise<Buffer> {
    if (typeof piece !== 'number') return piece;
    const file = await this.#opened();
    const block = Buffer.allocUnsafe(blockBytes);
    for (let at = 0; at < blockBytes; ) {
      const { bytesRead } = await file.read(block, at, blockBytes - at, piece * blockBytes + at);
      if (bytesRead === 0) throw new Error('A staged part is shorter than it was.');
      at += bytesRead;
    }
    return block;
  }

  /** @param isReusable false for memory that a connection may still be sending from: the garbage collector frees it */
  release(part: FillingPart, piece: Piece, isReusable: boolean): void {
    this.#shares.release(part);
    if (typeof piece === 'number') this.#releasePlace(piece);
    else if (isReusable) this.#freeMemory.push(piece);
    else this.#unmadeMemory += 1;
    this.#serve();
  }

  /** The part will not grow any more. */
  leave(part: FillingPart): void {
    this.#shares.leave(part);
    this.#serve();
  }

  #memory(): Buffer | undefined {
    const block = this.#freeMemory.pop();
    if (block !== undefined || this.#unmadeMemory === 0) return block;
    this.#unmadeMemory -= 1;
    return Buffer.allocUnsafeSlow(blockBytes);
  }

  #acquirePiece(part: FillingPart): Piece {
    this.#shares.acquire(part);
    const place = () => this.#freePlaces.pop() ?? this.#madePlaces++;
    return this.#memory() ?? place();
  }

  async #acquire(part: FillingPart, untilMs: number): Promise<Piece> {
    if ((this.#waiters.length === 0 || this.#shares.isFavoured(part)) && this.#shares.mayAcquire(part))
      return this.#acquirePiece(part);
    if (part.missingBlocks > this.#shares.blocks) throw new StagingFull();
    part.signal.throwIfAborted();
    return await new Promise<Piece>((resolve, reject) => {
      const end = (settle: () => void) => {
        clearTimeout(timer);
        part.signal.removeEventListener('abort', onAbort);
        this.#waiters = this.#waiters.filter((one) => one !== waiter);
        settle();
      };
      const waiter: Waiter = { part, grant: (piece) => end(() => resolve(piece)) };
      const onAbort = () => end(() => reject(part.signal.reason));
      const timer = setTimeout(() => end(() => reject(new StagingFull())), untilMs - performance.now());
      part.signal.addEventListener('abort', onAbort, { once: true });
      this.#waiters.push(waiter);
      // Those before it may wait for their caller's share alone.
      this.#serve();
    });
  }

  /** Gives free room to the waiting parts in their order, the favoured one first. */
  #serve(): void {
    while (this.#shares.free > 0) {
      const next = this.#waiters.find(({ part }) => this.#shares.isFavoured(part)) ?? this.#firstInShare();
      if (next === undefined || !this.#shares.mayAcquire(next.part)) return;
      next.grant(this.#acquirePiece(next.part));
    }
  }

  /** The first whose caller has room; of each caller its favoured part, else the first alone. */
  #firstInShare(): Waiter | undefined {
    const full = new Set<string | undefined>();
    for (const waiter of this.#waiters) {
      const { part } = waiter;
      if (full.has(part.caller) && !this.#shares.isFavouredOfCaller(part)) continue;
      if (this.#shares.hasPlaceInShare(part)) return waiter;
      full.add(part.caller);
    }
    return undefined;
  }

  #opened(): Promise<FileHandle> {
    this.#file ??= openUnnamed(this.#options.folder).catch((error) => {
      this.#file = undefined;
      throw error;
    });
    return this.#file;
  }

  async #write(block: Buffer, place: number): Promise<void> {
    const file = await this.#opened();
    for (let at = 0; at < block.length; ) {
      // A nearly full disk writes fewer bytes than given, without an error.
      const { bytesWritten } = await file.write(block, at, block.length - at, place * blockBytes + at);
      if (bytesWritten === 0) throw Object.assign(new Error('Nothing was written.'), { code: 'ENOSPC' });
      at += bytesWritten;
    }
  }

  #releasePlace(place: number): void {
    this.#freePlaces.push(place);
    if (this.#freePlaces.length < this.#madePlaces) return;
    // The file is empty of parts: closing it frees the disk.
    const file = this.#file;
    this.#file = undefined;
    this.#freePlaces = [];
    this.#madePlaces = 0;
    void file?.then((opened) => opened.close()).catch(() => undefined);
  }
}

/** Without a name the file disappears with the process, however that ends. Systems that refuse this keep the name. */
async function openUnnamed(folder: string): Promise<FileHandle> {
  const path = join(folder, `platform-staging-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  await unlink(path).catch(() => undefined);
  return file;
}

function isDiskFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EFBIG'].includes((error as NodeJS.ErrnoException).code ?? '');
}
