/**
 * Parts of objects between their arrival and their storage. A part is kept until the store has it, so that a failed
 * request can be made again. All parts of a process share a fixed number of memory blocks, whatever the number of
 * uploads; what does not fit goes to temporary files.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Intake } from './object-intake.ts';

export const blockBytes = 64 * 1024;
const poolBytes = 40 * 1024 * 1024;

/** Memory blocks that are used again and again, so that the process does not grow with what passes through it. */
class BlockPool {
  #free: Buffer[] = [];
  #unmade = poolBytes / blockBytes;

  /** Undefined when all blocks are in use. */
  take(): Buffer | undefined {
    const block = this.#free.pop();
    if (block !== undefined || this.#unmade === 0) return block;
    this.#unmade -= 1;
    return Buffer.allocUnsafeSlow(blockBytes);
  }

  give(block: Buffer): void {
    this.#free.push(block);
  }
}

const pool = new BlockPool();

/** Bytes of one part, in memory as long as blocks are left, then in a file. */
export class StagedPart {
  /** Full blocks and, last, the one being filled. */
  #blocks: Buffer[] = [];
  #lastFill = 0;
  /** Blocks of the pool, all but a possible last one. */
  #pooled = 0;
  #file: FileHandle | undefined;
  #fileBytes = 0;
  /** Only where an open file keeps its name. */
  #path: string | undefined;
  #sizeBytes = 0;

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Copies the chunk: what the network hands out may be a small view of a large piece of memory. */
  async append(chunk: Buffer): Promise<void> {
    let at = 0;
    while (at < chunk.length) {
      const block = this.#lastFill < blockBytes ? this.#blocks.at(-1) : undefined;
      if (block === undefined) {
        await this.#nextBlock();
        continue;
      }
      const count = chunk.copy(block, this.#lastFill, at);
      this.#lastFill += count;
      this.#sizeBytes += count;
      at += count;
    }
  }

  async #nextBlock(): Promise<void> {
    if (this.#blocks.length > this.#pooled) await this.#spill(this.#blocks.at(-1)!);
    else {
      const pooled = pool.take();
      // The first block past the pool is of the part itself; it is what the file is written from.
      this.#blocks.push(pooled ?? Buffer.allocUnsafeSlow(blockBytes));
      if (pooled !== undefined) this.#pooled += 1;
    }
    this.#lastFill = 0;
  }

  async #spill(block: Buffer): Promise<void> {
    if (this.#file === undefined) {
      const path = join(tmpdir(), `platform-part-${randomUUID()}`);
      this.#file = await open(path, 'wx+', 0o600);
      // Without a name the file goes with the process, however that ends. Systems that refuse remove it in `dispose`.
      await unlink(path).catch(() => {
        this.#path = path;
      });
    }
    await this.#file.write(block, 0, block.length, this.#fileBytes);
    this.#fileBytes += block.length;
  }
  /** The bytes from the beginning, block by block; may be read again for another try. */
  async *read(): AsyncGenerator<Buffer> {
    const last = this.#blocks.length - 1;
    const isLastAfterFile = this.#blocks.length > this.#pooled;
    for (const [index, block] of this.#blocks.entries()) {
      if (index === last && isLastAfterFile) break;
      yield index === last ? block.subarray(0, this.#lastFill) : block;
    }
    for (let at = 0; at < this.#fileBytes; ) {
      const { bytesRead, buffer } = await this.#file!.read(Buffer.allocUnsafe(blockBytes), 0, blockBytes, at);
      if (bytesRead === 0) throw new Error('A staged part is shorter than it was.');
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
    if (isLastAfterFile) yield this.#blocks[last]!.subarray(0, this.#lastFill);
  }

  /** Gives the memory back. Call it once, when nobody reads any more. */
  async dispose(): Promise<void> {
    for (const block of this.#blocks.slice(0, this.#pooled)) pool.give(block);
    this.#blocks = [];
    this.#pooled = 0;
    await this.#file?.close().catch(() => undefined);
    if (this.#path !== undefined) await unlink(this.#path).catch(() => undefined);
  }
}

/**
 * Fills a part from the intake up to `partBytes`. The intake's chunks do not end where parts do: `carry` holds what
 * the part before left over.
 */
export async function fillPart(
  intake: Intake,
  partBytes: number,
  carry: { rest: Buffer | null },
): Promise<{ readonly part: StagedPart; readonly isLast: boolean }> {
  const part = new StagedPart();
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
    await part.dispose();
    throw error;
  }
}
