/** Reads the first bytes of an output as a table, JSON or text. Pure: tested without a browser. */

import { parseMoment } from '../dashboard/time.ts';

export interface Table {
  columns: string[];
  rows: string[][];
}

export interface Readable {
  table: Table | null;
  /** Undefined when the bytes are not JSON or are incomplete. */
  json: unknown;
  /** Null for bytes that are not text. */
  text: string | null;
}

/** The most rows that are drawn or listed. */
export const maxRows = 5_000;
const maxColumns = 200;

/** @param isWhole whether these are all bytes of the output; else the last line may be half a line */
export function readBytes(bytes: Uint8Array, contentType: string, isWhole: boolean): Readable {
  const text = decode(bytes, isWhole);
  if (text === null) return { table: null, json: undefined, text: null };
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  const json = isWhole && /^\s*[[{"\d\-tfn]/.test(text) ? parse(text) : undefined;
  const isObject = typeof json === 'object' && json !== null;
  if (isObject) return { table: tableOfRecords(recordsIn(json)), json, text };
  const lines = text.split(/\r?\n/);
  if (!isWhole) lines.pop();
  const records = lines.slice(0, maxRows).filter((line) => line.trim() !== '');
  if (type.includes('ndjson') || records[0]?.trimStart().startsWith('{') === true) {
    const objects = records.map(parse).filter((value) => typeof value === 'object' && value !== null);
    if (objects.length > 0) return { table: tableOfRecords(objects), json: undefined, text };
  }
  const isTable = type.includes('csv') || type.includes('tab-separated') || !type.includes('json');
  return { table: isTable ? tableOfText(lines.join('\n'), type) : null, json, text };
}

/** A character that is cut at the end is no fault of the text. */
function decode(bytes: Uint8Array, isWhole: boolean): string | null {
  if (bytes.subarray(0, 4096).includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !isWhole });
  } catch {
    return null;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The document itself if it is a list of objects, or the only list in it. */
function recordsIn(json: object): unknown[] {
  if (Array.isArray(json)) return json;
  const lists = Object.values(json).filter((value) => Array.isArray(value));
  return lists.length === 1 ? (lists[0] as unknown[]) : [];
}

function tableOfRecords(records: unknown[]): Table | null {
  const objects = records
    .slice(0, maxRows)
    .filter(
      (item): item is Record<string, unknown> =>
        typeof item === 'object' && item !== null && !Array.isArray(item),
    );
  if (objects.length === 0 || objects.length < Math.min(records.length, maxRows)) return null;
  const columns = [...new Set(objects.slice(0, 100).flatMap(Object.keys))].slice(0, maxColumns);
  return { columns, rows: objects.map((item) => columns.map((column) => cellOf(item[column]))) };
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Separated values; null for a text that has no columns. */
function tableOfText(text: string, type: string): Table | null {
  const firstLine = text.slice(0, Math.max(0, text.search(/\r?\n/)));
  const delimiter = type.includes('tab-separated') ? '\t' : delimiterOf(firstLine);
  if (delimiter === null && !type.includes('csv')) return null;
  const [head, ...rows] = separated(text, delimiter ?? ',');
  if (head === undefined || rows.length === 0) return null;
  const columns = head
    .slice(0, maxColumns)
    .map((name, index) => (name === '' ? `column ${index + 1}` : name));
  // Prose of several lines has commas too, but not the same number in each.
  const sample = rows.slice(0, 20);
  const fits = sample.filter((row) => row.length === head.length).length;
  if (!type.includes('csv') && fits < sample.length * 0.8) return null;
  return { columns, rows: rows.map((row) => columns.map((_column, index) => row[index] ?? '')) };
}

function delimiterOf(line: string): string | null {
  const bare = line.replaceAll(/"[^"]*"/g, '');
  const counts = [',', ';', '\t', '|'].map((sign) => ({ sign, count: bare.split(sign).length - 1 }));
  const best = counts.reduce((a, b) => (b.count > a.count ? b : a));
  return best.count === 0 ? null : best.sign;
}

/** Rows of fields, quoted as RFC 4180 has it. */
export function separated(text: string, delimiter: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let field = '';
  let quoted = false;
  const endField = () => {
    row.push(field);
    field = '';
  };
  const endRow = () => {
    endField();
    if (row.length > 1 || row[0] !== '') rows.push(row);
    row = [];
  };
  for (
    let index = text.startsWith('\ufeff') ? 1 : 0;
    index < text.length && rows.length <= maxRows;
    index += 1
  ) {
    const sign = text[index]!;
    if (quoted) {
      if (sign !== '"') field += sign;
      else if (text[index + 1] === '"') {
        field += '"';
        index += 1;
      } else quoted = false;
    } else if (sign === '"' && field === '') quoted = true;
    else if (sign === delimiter) endField();
    else if (sign === '\n') endRow();
    else if (sign !== '\r') field += sign;
  }
  if (field !== '' || row.length > 0) endRow();
  return rows;
}

export interface Curves {
  /** `time`: milliseconds since 1970; `number`: the values of a column; `row`: the number of the row. */
  axis: { kind: 'time' | 'number' | 'row'; name: string };
  xs: number[];
  curves: { name: string; values: (number | null)[] }[];
}

/** The columns that can be drawn, over the first column if it rises, else over the row number. */
export function curvesOf(table: Table): Curves | null {
  if (table.rows.length < 2) return null;
  const numbers = table.columns.map((name, index) => ({
    name,
    index,
    values: table.rows.map((row) => numberOf(row[index] ?? '')),
  }));
  const drawable = numbers.filter(({ values }) => values.filter((value) => value !== null).length >= 2);
  const times = table.rows.map((row) => timeOf(row[0] ?? ''));
  const firstName = table.columns[0] ?? '';
  const first = numbers[0];
  if (isRising(times)) {
    const curves = drawable.filter(({ index }) => index !== 0);
    return curves.length === 0 ? null : { axis: { kind: 'time', name: firstName }, xs: times, curves };
  }
  if (first !== undefined && isRising(first.values) && drawable.length > 1) {
    const curves = drawable.filter(({ index }) => index !== 0);
    return { axis: { kind: 'number', name: firstName }, xs: first.values, curves };
  }
  const xs = table.rows.map((_row, index) => index + 1);
  return drawable.length === 0 ? null : { axis: { kind: 'row', name: 'row' }, xs, curves: drawable };
}

function isRising(values: (number | null)[]): values is number[] {
  return values.every(
    (value, index) => value !== null && (index === 0 || value >= (values[index - 1] ?? Infinity)),
  );
}

function numberOf(text: string): number | null {
  const trimmed = text.trim();
  const number = Number(trimmed);
  return trimmed === '' || !Number.isFinite(number) ? null : number;
}

function timeOf(text: string): number | null {
  if (!/^\d{4}-\d\d-\d\d([T ]\d\d:\d\d|$)/.test(text.trim())) return null;
  const time = parseMoment(text);
  return Number.isNaN(time) ? null : time;
}
