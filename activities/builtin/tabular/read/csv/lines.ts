/** Finds and changes lines of a delimited text of any size, where the strict reader knows only records. */
import { createReadStream } from 'node:fs';
import { carriageReturn, copyPart, newline } from '../copy-part.ts';
import { maxLineBytes } from './faults.ts';

const quote = 34;
const blank = 32;
const tab = 9;
const hash = 35;

const states = { cellStart: 0, plain: 1, quoted: 2, quoteInQuoted: 3 } as const;

/** Decides for each byte whether it ends a record; line ends within quotes do not. */
class RecordScanner {
  readonly #delimiter: number;
  #state: number = states.cellStart;

  constructor(delimiter: string) {
    this.#delimiter = delimiter.charCodeAt(0);
  }

  /** True when the byte is a line feed, or a carriage return, that ends a record. */
  isRecordEnd(byte: number): boolean {
    if (this.#state === states.quoted) {
      if (byte === quote) this.#state = states.quoteInQuoted;
      return false;
    }
    if (byte === quote) {
      if (this.#state !== states.plain) this.#state = states.quoted;
      return false;
    }
    if (byte === newline || byte === carriageReturn) {
      this.#state = states.cellStart;
      return true;
    }
    this.#state = byte === this.#delimiter ? states.cellStart : states.plain;
    return false;
  }
}

/**
 * The line on which a record begins.
 *
 * @param record its number from 1. Line ends within quotes end no record.
 * @param countsBlank whether blank lines count as records
 */
export async function lineOfRecord(
  path: string,
  delimiter: string,
  record: number,
  countsBlank: boolean,
  signal?: AbortSignal,
): Promise<number> {
  const scanner = new RecordScanner(delimiter);
  let line = 1;
  let startLine = 1;
  let current = 1;
  let isBlank = true;
  let previous = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20, signal })) {
    for (const byte of chunk as Buffer) {
      const isSecondOfPair = byte === newline && previous === carriageReturn;
      previous = byte;
      const isEnd = scanner.isRecordEnd(byte);
      if (isSecondOfPair) continue;
      if (byte === newline || byte === carriageReturn) line++;
      else if (byte !== blank && byte !== tab) isBlank = false;
      if (!isEnd) continue;
      if (countsBlank || !isBlank) {
        if (current === record) return startLine;
        current++;
      }
      startLine = line;
      isBlank = true;
    }
  }
  return startLine;
}

/** The line on which the first record begins that is longer than the strict reader reads; null without one. */
export async function lineOfLongRecord(
  path: string,
  delimiter: string,
  signal?: AbortSignal,
): Promise<number | null> {
  const scanner = new RecordScanner(delimiter);
  let line = 1;
  let startLine = 1;
  let length = 0;
  let previous = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20, signal })) {
    for (const byte of chunk as Buffer) {
      if (byte === carriageReturn || (byte === newline && previous !== carriageReturn)) line++;
      previous = byte;
      length = scanner.isRecordEnd(byte) ? 0 : length + 1;
      if (length === 0) startLine = line;
      if (length > maxLineBytes) return startLine;
    }
  }
  return null;
}

/** Writes a copy in which every record ends in a line feed, for files that mix the ways to end a line. */
export async function copyWithLineFeeds(
  from: string,
  to: string,
  delimiter: string,
  signal?: AbortSignal,
): Promise<void> {
  const scanner = new RecordScanner(delimiter);
  let pendingReturn = false;
  function transform(chunk: Buffer): Buffer {
    const out = Buffer.allocUnsafe(chunk.length + 1);
    let length = 0;
    for (const byte of chunk) {
      const isEnd = scanner.isRecordEnd(byte);
      if (pendingReturn) {
        out[length++] = newline;
        pendingReturn = false;
        if (byte === newline && isEnd) continue;
      }
      if (byte === carriageReturn && isEnd) pendingReturn = true;
      else out[length++] = byte;
    }
    return out.subarray(0, length);
  }
  await copyPart({ from, to }, { transform, flush: () => (pendingReturn ? '\n' : '') }, signal);
}

/**
 * Writes a copy in which the lines of comment (`#`) between records are blank, so that the others keep their numbers.
 *
 * @param table its first lines stay as they are
 * @returns how many there were
 */
export async function copyWithoutComments(
  from: string,
  to: string,
  table: { readonly delimiter: string; readonly skipLines: number },
  signal?: AbortSignal,
): Promise<number> {
  const scanner = new RecordScanner(table.delimiter);
  let comments = 0;
  let line = 0;
  let previous = 0;
  let isStart = true;
  let isComment = false;
  function transform(chunk: Buffer): Buffer {
    const out = Buffer.allocUnsafe(chunk.length);
    let length = 0;
    for (const byte of chunk) {
      if (isStart && byte === hash && line >= table.skipLines) {
        isComment = true;
        comments++;
      }
      isStart = false;
      const isEndOfLine = byte === newline || byte === carriageReturn;
      if (isEndOfLine && !(byte === newline && previous === carriageReturn)) line++;
      previous = byte;
      if (isComment && !isEndOfLine) continue;
      isComment = false;
      isStart = scanner.isRecordEnd(byte);
      out[length++] = byte;
    }
    return out.subarray(0, length);
  }
  await copyPart({ from, to }, { transform, flush: () => '' }, signal);
  return comments;
}
