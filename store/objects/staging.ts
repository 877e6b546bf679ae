/**
 * Parts of objects between their arrival and their storage. A part is kept until the store has it, so that a failed
 * request can be made again; one that cannot be sent again releases its room while it is sent.
 */
import { crc32 } from 'node:zlib';
import { BytesDiffer } from './body.ts';
import type { Intake } from './intake.ts';
import { blockBytes, type FillingPart, type Piece, type StagingArea } from './staging-area.ts';

const goneBack: Piece = -1;

/** Bytes of one part. */
export class StagedPart implements FillingPart {
  readonly signal: AbortSignal;
  readonly caller: string | undefined;
  readonly #area: StagingArea;
  readonly #maxBytes: number;
  /** Full blocks; the next one is being filled. */
  #pieces: Piece[] = [];
  #next: Buffer | undefined;
  #nextBytes = 0;
  #isNextOfArea = false;
  #sizeBytes = 0;
  #sum = 0;
  #waitedMs = 0;
  #reads = 0;
  /** Pieces at the beginning that are already released. */
  #given = 0;

  /**
   * @param maxBytes most that it is going to hold
   * @param caller whose share of the area it uses
   */
  constructor(area: StagingArea, maxBytes: number, signal: AbortSignal, caller?: string) {
    this.caller = caller;
    this.#area = area;
    this.#maxBytes = maxBytes;
    this.signal = signal;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** How long it waited for room while it was filled. */
  get waitedMs(): number {
    return this.#waitedMs;
  }

  get missingBlocks(): number {
    return Math.max(0, Math.ceil(this.#maxBytes / blockBytes) - this.takenBlocks);
  }

  get takenBlocks(): number {
    return this.#pieces.length + (this.#isNextOfArea ? 1 : 0);
  }

  /** Copies the chunk, because a network chunk may be a small view of a large piece of memory. */
  async append(chunk: Buffer): Promise<void> {
    this.#sum = crc32(chunk, this.#sum);
    for (let at = 0; at < chunk.length; ) {
      if (this.#next === undefined || this.#nextBytes === blockBytes) await this.#nextBlock();
      const count = chunk.copy(this.#next!, this.#nextBytes, at);
      this.#nextBytes += count;
      this.#sizeBytes += count;
      at += count;
    }
  }

  async #nextBlock(): Promise<void> {
    const full = this.#next;
    this.#nextBytes = 0;
    if (full !== undefined && !this.#isNextOfArea) {
      const startedAtMs = performance.now();
      this.#pieces.push(await this.#area.store(this, full));
      this.#waitedMs += performance.now() - startedAtMs;
      return;
    }
    if (full !== undefined) this.#pieces.push(full);
    const block = this.#area.acquireMemory(this);
    this.#isNextOfArea = block !== undefined;
    // One block beyond the area belongs to the part itself: the file is written from it.
    this.#next = block ?? Buffer.allocUnsafeSlow(blockBytes);
  }

  /** All its bytes are received. */
  filled(): void {
    this.#area.leave(this);
  }

  /**
   * The bytes from the beginning, block by block; may be read again for another try, unless it is read `once`: then the
   * room is released as the bytes are sent. Before the last of them it checks that they are the received ones.
   */
  async *read(once = false): AsyncGenerator<Buffer> {
    this.#reads += 1;
    let sum = 0;
    const last = this.#next?.subarray(0, this.#nextBytes) ?? Buffer.alloc(0);
    for (let at = 0; at < this.#pieces.length; at += 1) {
      const piece = this.#pieces[at]!;
      const block = await this.#area.read(piece);
      sum = crc32(block, sum);
      yield block;
      if (once) this.#releaseSpare(at);
    }
    if (crc32(last, sum) !== this.#sum) throw new BytesDiffer();
    if (last.length > 0) yield last;
  }

  #releaseSpare(at: number): void {
    this.#area.release(this, this.#pieces[at]!, false);
    this.#pieces[at] = goneBack;
    this.#given = at + 1;
  }

  /**
   * Releases the room. Call it once, when there is no reader any more.
   * @param isSent every byte of it went out: a request that failed may still send from its memory
   */
  dispose(isSent: boolean): void {
    this.#area.leave(this);
    const isReusable = (isSent && this.#reads === 1) || this.#reads === 0;
    for (const piece of this.#pieces.slice(this.#given)) this.#area.release(this, piece, isReusable);
    if (this.#next !== undefined && this.#isNextOfArea) this.#area.release(this, this.#next, isReusable);
    this.#pieces = [];
    this.#next = undefined;
  }
}

export interface FillOptions {
  readonly area: StagingArea;
  readonly intake: Intake;
  /** Where the part ends, if the intake does not before. */
  readonly partBytes: number;
  /** How many bytes may come before the intake ends; null where it is not known. */
  readonly expectedBytes: number | null;
  readonly signal: AbortSignal;
  /** Whose share of the area it uses. */
  readonly caller?: string | undefined;
}

/**
 * Fills a part from the intake. The intake's chunks do not end where parts do: `carry` holds what the part before left
 * over.
 * @throws StagingFull, and what the intake throws
 */
export async function fillPart(
  { area, intake, partBytes, expectedBytes, signal, caller }: FillOptions,
  carry: { rest: Buffer | null } = { rest: null },
): Promise<{ readonly part: StagedPart; readonly isLast: boolean }> {
  const part = new StagedPart(area, Math.min(partBytes, expectedBytes ?? partBytes), signal, caller);
  try {
    for (;;) {
      const chunk = carry.rest ?? (await intake.next());
      carry.rest = null;
      if (chunk === null) return { part, isLast: true };
      const room = partBytes - part.sizeBytes;
      await part.append(chunk.length <= room ? chunk : chunk.subarray(0, room));
      if (chunk.length > room) carry.rest = chunk.subarray(room);
      if (part.sizeBytes === partBytes) return { part, isLast: false };
    }
  } catch (error) {
    part.dispose(false);
    throw error;
  } finally {
    part.filled();
  }
}
