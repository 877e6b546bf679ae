/** Where the fault is in a JSON file that the reader refused. */
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { TabularError } from '../errors.ts';
import { encodingHint } from './encoding.ts';
import { type JsonLayout, wholeFileBytes } from './json-scan.ts';

const faultSearchBytes = 256 * 1024 * 1024;

/** Finds the fault in a JSON file that the reader refused; null when none is found. */
export async function findJsonFault(
  path: string,
  layout: JsonLayout,
  sizeBytes: number,
  signal?: AbortSignal,
): Promise<TabularError | null> {
  if (layout === 'newline_delimited') return findFaultyLine(path, signal);
  if (sizeBytes > faultSearchBytes) return null;
  const text = await readFile(path, 'utf8');
  if (layout === 'array') return faultOf(text);
  const from = startOfBroken(text);
  return text.slice(from).trim() === '' ? null : faultOf(text, { from });
}

/** Where the first broken value begins, of objects and lists one after another. */
function startOfBroken(text: string): number {
  let start = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '"') at = endOfString(text, at);
    else if (char === '{' || char === '[') depth++;
    else if ((char === '}' || char === ']') && --depth <= 0) {
      if (parseFault(text.slice(start, at + 1)) !== null) return start;
      start = at + 1;
      depth = 0;
    }
  }
  return start;
}

/** The closing quote of a string that begins at a quote. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length && text[at] !== '"'; at++) if (text[at] === '\\') at++;
  return at;
}

async function findFaultyLine(path: string, signal?: AbortSignal): Promise<TabularError | null> {
  for await (const { line, text } of filledLines(path, signal)) {
    const fault = faultOf(text, { line });
    if (fault !== null) return fault;
  }
  return null;
}

/** The place of a record, from 1, of a file of one record a line; unknown behind a very long line. */
export async function placeOfRecord(
  path: string,
  record: number,
  signal?: AbortSignal,
): Promise<{ line?: number; column?: number }> {
  let current = 0;
  for await (const { line, text } of filledLines(path, signal)) {
    if (++current === record) return { line, column: text.search(/\S/) + 1 };
  }
  return {};
}

/** Lines that are not blank, up to the first that is very long. */
async function* filledLines(
  path: string,
  signal?: AbortSignal,
): AsyncIterable<{ readonly line: number; readonly text: string }> {
  let line = 0;
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20, signal })) {
    let from = 0;
    const bytes = rest.length === 0 ? (chunk as Buffer) : Buffer.concat([rest, chunk as Buffer]);
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
      const text = bytes.toString('utf8', from, end);
      line++;
      if (text.trim() !== '') yield { line, text };
      from = end + 1;
    }
    rest = bytes.subarray(from);
    if (rest.length > wholeFileBytes) return;
  }
  const text = rest.toString('utf8');
  if (text.trim() !== '') yield { line: line + 1, text };
}

/** Null when nothing is wrong. */
function parseFault(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
}

/**
 * @param place `from`: where the value begins, of a text that holds others before it; `line`: of a text that is one line
 *   of its file
 */
function faultOf(
  text: string,
  { from = 0, line }: { from?: number; line?: number } = {},
): TabularError | null {
  const value = text.slice(from);
  const message = parseFault(value);
  if (message === null) {
    return text.includes('\ufffd')
      ? new TabularError(`The JSON contains bytes that are not UTF-8. ${encodingHint}`, { line })
      : null;
  }
  const end = text.trimEnd().length;
  const isEnd = /unexpected end/i.test(message);
  const position = /at position (\d+)/.exec(message)?.[1];
  const found = position === undefined ? placeWithoutValue(value) : Number(position);
  const at = isEnd ? end : Math.min(from + found, end);
  const before = text.slice(0, at);
  const place = {
    line: line ?? before.split('\n').length,
    column: at - before.lastIndexOf('\n'),
  };
  return new TabularError(at === end ? 'The JSON ends too early.' : 'The JSON is malformed here.', place);
}

/**
 * Where a value is missing; the end when none is. `JSON.parse` names the place of every other fault. It refuses NaN and
 * Infinity, which the reader takes: they are no fault here.
 */
function placeWithoutValue(text: string): number {
  const plainValue = /-?(?:\d[\d.e+-]*|nan|inf(?:inity)?)|true|false|null/iy;
  let before = ',';
  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string;
    if (char === ' ' || char === '\n' || char === '\r' || char === '\t') continue;
    if (char === '"') {
      at = endOfString(text, at);
    } else if (char === '{' || char === '[' || char === '}' || char === ']' || char === ':' || char === ',') {
      const isValueNext = before === ',' || before === ':' || before === '[';
      const isValue = char === '{' || char === '[' || (before === '[' && char === ']');
      if (isValueNext && !isValue) return at;
    } else {
      plainValue.lastIndex = at;
      if (!plainValue.test(text)) return at;
      at = plainValue.lastIndex - 1;
    }
    before = char;
  }
  return text.length;
}
