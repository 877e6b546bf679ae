/** Reading delimited text of any size, row by row. */
import { TextDecoder } from 'node:util';
import { TaskFailure } from '@simulation-data-platform/runner';

/** A longer line is no line of a table. */
const longestLineCharacters = 1024 * 1024;

export interface Row {
  /** Of the row's first line in the file, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

export interface Table {
  readonly columns: readonly string[];
  readonly rows: AsyncGenerator<Row, void, void>;
}

/**
 * Reads the header of a comma-, semicolon- or tab-separated table and gives the rows one by one. Quoted cells may hold
 * delimiters, quotes and line breaks.
 * @param bytes UTF-8, with or without a byte order mark
 * @throws TaskFailure `validation` with the line, for what is no table
 */
export async function readTable(bytes: AsyncIterable<Uint8Array>): Promise<Table> {
  const lines = records(bytes);
  const head = await lines.next();
  if (head.done === true) throw new TaskFailure('validation', 'line 1: there is no header');
  const delimiter = delimiterOf(head.value.text);
  const columns = cellsOf(head.value.text, delimiter).map((name) => name.trim());
  return { columns, rows: rowsOf(lines, columns.length, delimiter) };
}

interface Line {
  readonly line: number;
  readonly text: string;
}

async function* rowsOf(lines: AsyncGenerator<Line>, width: number, delimiter: string): AsyncGenerator<Row> {
  for await (const { line, text } of lines) {
    const cells = cellsOf(text, delimiter);
    if (cells.length !== width) {
      throw new TaskFailure('validation', `line ${line}: ${cells.length} cells below ${width} columns`);
    }
    yield { line, cells };
  }
}

/** Lines, joined while a quote is open; empty ones are left out. */
async function* records(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  let open: Line | undefined;
  let number = 0;
  for await (const text of linesOf(bytes)) {
    number += 1;
    const line: Line =
      open === undefined ? { line: number, text } : { ...open, text: `${open.text}\n${text}` };
    if (line.text.length > longestLineCharacters) {
      throw new TaskFailure(
        'validation',
        `line ${line.line}: longer than ${longestLineCharacters} characters`,
      );
    }
    open = isOpen(line.text) ? line : undefined;
    if (open === undefined && line.text.trim() !== '') yield line;
  }
  if (open !== undefined) throw new TaskFailure('validation', `line ${open.line}: a quote is not closed`);
}

async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  for await (const chunk of bytes) {
    const pieces = (rest + decode(decoder, chunk)).split('\n');
    rest = pieces.pop() ?? '';
    if (rest.length > longestLineCharacters) break;
    for (const piece of pieces) yield withoutReturn(piece);
  }
  rest += decode(decoder);
  if (rest !== '') yield withoutReturn(rest);
}

function decode(decoder: TextDecoder, chunk?: Uint8Array): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch {
    throw new TaskFailure('validation', 'the file is no UTF-8 text');
  }
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

function isOpen(text: string): boolean {
  return text.includes('"') && (text.match(/"/g)?.length ?? 0) % 2 === 1;
}

/** The one of the three that the header has most of. */
function delimiterOf(header: string): string {
  const counts = [',', ';', '\t'].map((delimiter) => ({ delimiter, count: header.split(delimiter).length }));
  return counts.reduce((best, one) => (one.count > best.count ? one : best)).delimiter;
}

function cellsOf(text: string, delimiter: string): string[] {
  if (!text.includes('"')) return text.split(delimiter);
  const cells: string[] = [];
  for (let at = 0; ; ) {
    const isQuoted = text[at] === '"';
    const end = isQuoted ? closingQuote(text, at + 1) + 1 : endOfBare(text, delimiter, at);
    cells.push(isQuoted ? text.slice(at + 1, end - 1).replaceAll('""', '"') : text.slice(at, end));
    if (end === text.length) return cells;
    if (text[end] !== delimiter) {
      throw new TaskFailure('validation', `text behind a quoted cell: ${text.slice(at, at + 80)}`);
    }
    at = end + 1;
  }
}

function endOfBare(text: string, delimiter: string, at: number): number {
  const end = text.indexOf(delimiter, at);
  return end < 0 ? text.length : end;
}

function closingQuote(text: string, from: number): number {
  for (let at = from; ; at += 2) {
    at = text.indexOf('"', at);
    if (at < 0)
      throw new TaskFailure('validation', `a quote is not closed: ${text.slice(from - 1, from + 80)}`);
    if (text[at + 1] !== '"') return at;
  }
}
