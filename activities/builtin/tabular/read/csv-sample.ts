/** The start of a delimited text, read leniently, to find delimiter, heading and units before the strict reading. */

import type { InputFormat } from '../configuration.ts';
import { shown, TabularError } from '../errors.ts';
import { isMissingText, isNumberText } from './text-values.ts';

type Delimiter = ',' | '\t' | ';' | '|';

interface CsvRecord {
  /** Line of the file on which the record begins, from 1. */
  line: number;
  /** Where it begins in the sampled text, in characters. */
  offset: number;
  cells: string[];
}

export interface CsvLayout {
  delimiter: Delimiter;
  /** Numbers have a decimal comma. */
  decimalComma: boolean;
  headings: string[];
  /** Units from a separate line below the headings, null without such a line. */
  units: string[] | null;
  hasHeading: boolean;
  /** Lines before the last heading line, or before the first record without one; the strict reader skips them. */
  skipLines: number;
  /** These lines, unchanged. */
  skippedText: string;
  records: CsvRecord[];
}

const probeRecords = 200;
const sampleCells = 1_000_000;

/**
 * @param text the start of the file
 * @param isWhole whether that is all of it; if not, the last record is dropped
 * @throws TabularError when there are no columns or too many
 */
export function readCsvLayout(
  text: string,
  isWhole: boolean,
  format: InputFormat,
  maxRows: number,
): CsvLayout {
  const preamble = readPreamble(text);
  const body = text.slice(preamble.characters);
  const delimiter = preamble.delimiter ?? chooseDelimiter(body, isWhole, format);
  const first = splitRecords(body, delimiter, 1, isWhole)[0];
  if (first === undefined) {
    throw new TabularError('No line of the file ends within its first megabytes; it is not a table.');
  }
  const rows = Math.max(20, Math.min(maxRows, Math.floor(sampleCells / first.cells.length)));
  const records = splitRecords(body, delimiter, rows + 2, isWhole);
  for (const record of records) {
    record.line += preamble.lines;
    record.offset += preamble.characters;
  }
  return arrange(text, records, delimiter, preamble);
}

function arrange(
  text: string,
  records: CsvRecord[],
  delimiter: Delimiter,
  preamble: { lines: number; characters: number },
): CsvLayout {
  const [first, ...rest] = records as [CsvRecord, ...CsvRecord[]];
  const decimalComma = delimiter !== ',' && usesDecimalComma(rest.length === 0 ? records : rest);
  const hasHeading = isHeading(first.cells, rest, decimalComma);
  if (!hasHeading) {
    const headings = first.cells.map((_, index) => `column_${index + 1}`);
    const skippedText = text.slice(0, preamble.characters);
    const skipLines = preamble.lines;
    return { delimiter, decimalComma, headings, units: null, hasHeading, skipLines, skippedText, records };
  }
  const second = rest[0];
  const hasUnits = second !== undefined && isUnitsLine(second.cells, rest.slice(1), decimalComma);
  const heading = hasUnits ? second : first;
  return {
    delimiter,
    decimalComma,
    headings: first.cells.map((cell) => cell.trim()),
    units: hasUnits ? second.cells.map((cell) => cell.trim()) : null,
    hasHeading,
    skipLines: heading.line - 1,
    skippedText: text.slice(0, heading.offset),
    records: hasUnits ? rest.slice(1) : rest,
  };
}

/** Leading blank lines, lines of comment (`#`) and Excel's `sep=;`. */
function readPreamble(text: string): { characters: number; lines: number; delimiter: Delimiter | null } {
  let characters = 0;
  let lines = 0;
  let delimiter: Delimiter | null = null;
  for (;;) {
    const line = /^(?:[ \t]*|#[^\r\n]*|sep=([,;\t|]))(?:\r\n|\r|\n)/i.exec(
      text.slice(characters, characters + 65_536),
    );
    if (line === null) return { characters, lines, delimiter };
    characters += line[0].length;
    lines++;
    if (line[1] !== undefined) delimiter = line[1] as Delimiter;
  }
}

function chooseDelimiter(body: string, isWhole: boolean, format: InputFormat): Delimiter {
  if (format === 'tsv') return '\t';
  if (format === 'semicolon') return ';';
  const sample = body.slice(0, 1 << 18);
  const all = isWhole && sample.length === body.length;
  let best: { delimiter: Delimiter; share: number; columns: number } | null = null;
  // In doubt the earlier delimiter wins: a text with tabs or semicolons in every line has its commas within values.
  for (const delimiter of ['\t', ';', '|', ','] as const) {
    const records = splitRecords(sample, delimiter, probeRecords, all);
    const columns = records[0]?.cells.length ?? 0;
    if (columns < 2) continue;
    const share = records.filter((record) => record.cells.length === columns).length / records.length;
    if (best === null || share > best.share + 0.05) best = { delimiter, share, columns };
  }
  return best?.delimiter ?? ',';
}

/** Records of a text by RFC 4180, blank lines left out; quotes within unquoted values are plain characters. */
function splitRecords(text: string, delimiter: string, maxRecords: number, isWhole: boolean): CsvRecord[] {
  const records: CsvRecord[] = [];
  let line = 1;
  let at = 0;
  while (at < text.length && records.length < maxRecords) {
    const start = line;
    const offset = at;
    const cells: string[] = [];
    let ended = false;
    while (!ended) {
      const cell = readCell(text, at, delimiter);
      cells.push(cell.value);
      line += cell.newlines;
      at = cell.end;
      const next = text[at];
      if (next === delimiter) {
        at++;
        continue;
      }
      ended = true;
      if (next === undefined) {
        if (!isWhole) return records;
      } else {
        at += next === '\r' && text[at + 1] === '\n' ? 2 : 1;
        line++;
      }
    }
    if (cells.length > 1 || (cells[0] as string).trim() !== '') records.push({ line: start, offset, cells });
  }
  return records;
}

function readCell(
  text: string,
  from: number,
  delimiter: string,
): { value: string; end: number; newlines: number } {
  let at = from;
  if (text[at] !== '"') {
    while (at < text.length && text[at] !== delimiter && text[at] !== '\n' && text[at] !== '\r') at++;
    return { value: text.slice(from, at), end: at, newlines: 0 };
  }
  let value = '';
  at++;
  for (;;) {
    const quote = text.indexOf('"', at);
    const end = quote === -1 ? text.length : quote;
    value += text.slice(at, end);
    at = end + 1;
    if (quote === -1 || text[at] !== '"') break;
    value += '"';
    at++;
  }
  at = Math.min(at, text.length);
  const tail = at;
  while (at < text.length && text[at] !== delimiter && text[at] !== '\n' && text[at] !== '\r') at++;
  return { value: value + text.slice(tail, at), end: at, newlines: value.split(/\r\n|\r|\n/).length - 1 };
}

function usesDecimalComma(records: CsvRecord[]): boolean {
  let commas = 0;
  for (const { cells } of records.slice(0, probeRecords)) {
    for (const cell of cells) {
      if (isNumberText(cell, false)) {
        if (cell.includes('.')) return false;
      } else if (isNumberText(cell, true)) commas++;
    }
  }
  return commas > 0;
}

/**
 * The first line is a heading unless it holds a number, above columns that hold numbers too. A number over a column
 * of texts, or a text over a column of numbers, decides for a heading.
 */
function isHeading(first: string[], rest: CsvRecord[], decimalComma: boolean): boolean {
  const isValue = (cell: string) =>
    isNumberText(cell, decimalComma) || isMissingText(cell) || looksLikeTime(cell);
  const filled = first.filter((cell) => cell.trim() !== '');
  if (filled.length === 0) return false;
  if (filled.every((cell) => !isValue(cell))) return true;
  const sample = rest.slice(0, probeRecords);
  return first.some((cell, index) => {
    if (cell.trim() === '' || isValue(cell)) return false;
    const below = sample.map((record) => record.cells[index] ?? '').filter((value) => value.trim() !== '');
    return below.length > 0 && below.every((value) => isValue(value));
  });
}

function looksLikeTime(cell: string): boolean {
  return /^\s*\d{1,4}[-/.:]\d{1,2}(?:[-/.:]\d{1,4})?(?:[T ].*)?$/.test(cell);
}

/** A line of units: short texts without any number, one of them at least over a column of numbers. */
function isUnitsLine(cells: string[], rest: CsvRecord[], decimalComma: boolean): boolean {
  const sample = rest.slice(0, probeRecords);
  if (sample.length === 0) return false;
  let overNumbers = 0;
  for (const [index, raw] of cells.entries()) {
    const cell = raw.trim();
    const below = sample.map((record) => record.cells[index] ?? '').filter((value) => value.trim() !== '');
    const numeric = below.length > 0 && below.every((value) => isNumberText(value, decimalComma));
    if (isNumberText(cell, decimalComma) || looksLikeTime(cell) || cell.length > 24) return false;
    // A missing value in a column of numbers is data, not a unit.
    if (numeric && isMissingText(cell) && cell !== '-') return false;
    if (numeric && cell !== '' && cell !== '-') overNumbers++;
    if (!numeric && cell !== '' && below.length > 0 && !/^[[(].*[\])]$/.test(cell)) return false;
  }
  return overNumbers > 0;
}

/** The text of the file's start. @throws TabularError for bytes that are not UTF-8 text, with their place. */
export function decodeHead(head: Buffer, isWhole: boolean): string {
  const nul = head.indexOf(0);
  if (nul !== -1) throw new TabularError('The file is binary, not text.', placeOf(head, nul));
  try {
    // With `stream`, a character cut off at the end of the sample is not a fault.
    return new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: !isWhole });
  } catch {
    const at = firstBadByte(head);
    const byte = head[at]?.toString(16).padStart(2, '0') ?? '';
    throw new TabularError(`The byte ${shown(byte)} is not UTF-8.`, placeOf(head, at));
  }
}

function placeOf(head: Buffer, at: number): { line: number; column?: number } {
  let line = 1;
  for (let i = head.indexOf(10); i !== -1 && i < at; i = head.indexOf(10, i + 1)) line++;
  return { line };
}

function firstBadByte(head: Buffer): number {
  let low = 0;
  let high = head.length;
  const isGood = (end: number) => {
    try {
      new TextDecoder('utf-8', { fatal: true }).decode(head.subarray(0, end), { stream: true });
      return true;
    } catch {
      return false;
    }
  };
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (isGood(middle)) low = middle;
    else high = middle - 1;
  }
  return Math.min(low, head.length - 1);
}
