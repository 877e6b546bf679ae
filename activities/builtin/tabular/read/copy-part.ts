/** Copies of a text of any size as the strict reader needs them, each made in one pass. */
import { createReadStream, createWriteStream } from 'node:fs';
import { Transform, type TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { StringDecoder } from 'node:string_decoder';
import { maxLineBytes } from './csv/faults.ts';

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
  transform(chunk: Buffer): Buffer | string;
  /** What is held back until the end. */
  flush(): Buffer | string;
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

/** The bytes, and the characters, that end lines. */
export const newline = 10;
export const carriageReturn = 13;

/**
 * Changes each line that is not empty; ends of lines stay. A line longer than the strict reader reads stays as it is,
 * and is not held in memory: the reader names it.
 */
export function lineRecoding(encoding: 'utf8' | 'latin1', change: (line: string) => string): Recoding {
  const decoder = new StringDecoder(encoding);
  let begun = '';
  let isLong = false;
  function ended(part: string): string {
    const line = begun + part;
    const stays = isLong || line === '' || line.length > maxLineBytes;
    begun = '';
    isLong = false;
    return stays ? line : change(line);
  }
  // No regular expression: one over a line of megabytes may use up its stack.
  function transform(chunk: Buffer): Buffer {
    const text = decoder.write(chunk);
    let out = '';
    let start = 0;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code !== newline && code !== carriageReturn) continue;
      out += ended(text.slice(start, at)) + text.charAt(at);
      start = at + 1;
    }
    begun += text.slice(start);
    if (isLong || begun.length > maxLineBytes) {
      out += begun;
      begun = '';
      isLong = true;
    }
    return Buffer.from(out, encoding);
  }
  return { transform, flush: () => Buffer.from(ended(decoder.end()), encoding) };
}

/** A text, changed like a file by `lineRecoding`. */
export function changedLines(text: string, change: (line: string) => string): string {
  const { transform, flush } = lineRecoding('utf8', change);
  return `${transform(Buffer.from(text))}${flush()}`;
}

function transformOf(recoding: Recoding): Transform {
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => answer(done, () => recoding.transform(chunk)),
    flush: (done) => answer(done, () => recoding.flush()),
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
