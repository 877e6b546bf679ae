/** Copies of a text of any size as the strict reader needs them, each made in one pass. */
import { createReadStream, createWriteStream } from 'node:fs';
import { Transform, type TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export interface Part {
  readonly from: string;
  readonly to: string;
  /** Its first byte; default: that of the file. */
  readonly start?: number;
  /** The byte behind its last one; default: the end of the file. */
  readonly end?: number;
  /** What stands above it in the copy. */
  readonly top?: string;
}

/** What the copy has in place of the bytes. */
export interface Recoding {
  of(chunk: Buffer): Buffer | string;
  /** What is held back until the end. */
  rest(): Buffer | string;
}

const highWaterMark = 1 << 20;

/** @throws what the recoding throws; the signal's reason */
export async function copyPart(part: Part, recoding: Recoding | null, signal?: AbortSignal): Promise<void> {
  const { from, to, start = 0, end = Number.POSITIVE_INFINITY, top = '' } = part;
  const target = createWriteStream(to, { highWaterMark });
  if (top !== '') target.write(top);
  // The end of a stream is the last byte that it reads.
  const source = createReadStream(from, { highWaterMark, start, end: end - 1 });
  const between = recoding === null ? [] : [transformOf(recoding)];
  await pipeline([source, ...between, target], signal === undefined ? {} : { signal });
}

function transformOf(recoding: Recoding): Transform {
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => answer(done, () => recoding.of(chunk)),
    flush: (done) => answer(done, () => recoding.rest()),
  });
}

/** A stream ends its process by what it throws. */
function answer(done: TransformCallback, make: () => Buffer | string): void {
  let made: Buffer | string;
  try {
    made = make();
  } catch (error) {
    done(error instanceof Error ? error : new Error(String(error)));
    return;
  }
  done(null, made);
}
