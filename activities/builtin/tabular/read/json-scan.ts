/** Guards and repairs around JSON files: depth and shape. */
import { createReadStream, createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { excerpt, TabularError } from '../errors.ts';
import type { PlainInput } from './prepare-input.ts';

/** Deeper nesting is refused: the reader's own analysis follows it on the stack. */
const maxDepthLevels = 200;
/** Files up to this size may be read as a whole, to find a fault or a table within an object. */
export const wholeFileBytes = 64 * 1024 * 1024;

/** @throws TabularError with its place when brackets nest too deeply */
export async function refuseDeepJson(path: string, signal?: AbortSignal): Promise<void> {
  let depth = 0;
  let inString = false;
  let escaped = false;
  let line = 1;
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20, signal })) {
    const bytes = chunk as Buffer;
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i] as number;
      if (byte === 10) {
        // No JSON string spans lines, so an unclosed one cannot hide what follows.
        inString = false;
        escaped = false;
        line++;
      } else if (inString) {
        if (escaped) escaped = false;
        else if (byte === 0x5c) escaped = true;
        else if (byte === 0x22) inString = false;
      } else if (byte === 0x22) inString = true;
      else if (byte === 0x7b || byte === 0x5b) {
        if (++depth > maxDepthLevels) {
          throw new TabularError(`The JSON is nested deeper than ${maxDepthLevels} levels.`, { line });
        }
      } else if (byte === 0x7d || byte === 0x5d) depth--;
    }
  }
}

export type JsonLayout = 'array' | 'newline_delimited' | 'unstructured';

/**
 * Finds how a file holds its records: an array of objects, one object a line, or objects one after another. Small files
 * of another shape are rewritten to one object a line into `rewritePath`: an object that holds the table (as columns,
 * or as its only list of objects) and lists of lists or plain values.
 * @throws TabularError when the file holds no table
 */
export async function jsonLayout(
  input: PlainInput,
  text: string,
  rewritePath: string,
): Promise<{ layout: JsonLayout; path: string }> {
  const start = text.search(/\S/);
  const opening = text[start];
  if (opening === '[') {
    const first = /\S/.exec(text.slice(start + 1, start + 65_536))?.[0];
    if (first === '{') return { layout: 'array', path: input.path };
  } else if (opening === '{') {
    if (firstLineIsWhole(text.slice(start)) && !isOneLine(text.slice(start), input.isWhole)) {
      return { layout: 'newline_delimited', path: input.path };
    }
  } else throw new TabularError('The JSON file begins neither with a list nor with an object.', { line: 1 });
  if (input.sizeBytes > wholeFileBytes) return { layout: 'unstructured', path: input.path };
  const value = parseWhole(await readFile(input.path, 'utf8'));
  if (value === undefined) return { layout: 'unstructured', path: input.path };
  await pipeline(Readable.from(lines(tableWithin(value))), createWriteStream(rewritePath));
  return { layout: 'newline_delimited', path: rewritePath };
}

function parseWhole(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function firstLineIsWhole(text: string): boolean {
  const end = text.indexOf('\n');
  return end !== -1 && parseWhole(text.slice(0, end)) !== undefined;
}

function isOneLine(text: string, isWhole: boolean): boolean {
  const end = text.indexOf('\n');
  return isWhole && text.slice(end).trim() === '';
}

function* lines(rows: Iterable<unknown>): Iterable<string> {
  let buffer = '';
  for (const row of rows) {
    buffer += `${JSON.stringify(row)}\n`;
    if (buffer.length > 1 << 18) {
      yield buffer;
      buffer = '';
    }
  }
  yield buffer;
}

type JsonObject = Record<string, unknown>;

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const isPlain = (value: unknown) => typeof value !== 'object' || value === null;

function tableWithin(value: unknown): Iterable<unknown> {
  if (Array.isArray(value)) return rowsOfList(value);
  const entries = Object.entries(value as JsonObject);
  const lists = entries.filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]));
  const tables = lists.filter(([, list]) => list.length > 0 && list.every(isObject));
  if (tables.length === 1) return (tables[0] as [string, unknown[]])[1];
  if (tables.length > 1) {
    const names = tables.map(([name]) => excerpt(name)).slice(0, 5);
    throw new TabularError(`The object has several tables (${names.join(', ')}); a file may have one.`);
  }
  if (lists.length === 0) return [value];
  const [, first] = lists[0] as [string, unknown[]];
  const areColumns = lists.every(([, list]) => list.length === first.length && list.every(isPlain));
  if (!areColumns) {
    throw new TabularError('The object has no table: neither one list of objects nor lists of equal length.');
  }
  return first.map((_, row) => Object.fromEntries(lists.map(([name, list]) => [name, list[row]])));
}

/** A name that occurs again gets a number: the values of a record go by its names. */
function uniqueNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    let own = name;
    for (let copy = 2; taken.has(own); copy++) own = `${name}#${copy}`;
    taken.add(own);
    return own;
  });
}

function rowsOfList(list: unknown[]): Iterable<unknown> {
  if (list.every(isPlain)) return list.map((value) => ({ value }));
  if (list.every((row): row is unknown[] => Array.isArray(row) && row.every(isPlain))) {
    const head = list[0] as unknown[];
    const hasHeading = head.length > 0 && head.every((cell) => typeof cell === 'string' && cell !== '');
    const names = hasHeading ? uniqueNames(head as string[]) : head.map((_, index) => `column_${index + 1}`);
    return (hasHeading ? list.slice(1) : list).map((row, index) => {
      if (row.length !== names.length) {
        const record = index + (hasHeading ? 2 : 1);
        throw new TabularError(`Record ${record} has ${row.length} values, not ${names.length}.`);
      }
      return Object.fromEntries(row.map((cell, column) => [names[column] as string, cell]));
    });
  }
  const at = list.findIndex((row) => !isObject(row));
  throw new TabularError(`Record ${at + 1} of the list is not an object.`);
}
