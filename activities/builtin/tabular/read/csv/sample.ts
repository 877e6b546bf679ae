/** The start of a delimited text, read leniently, to find delimiter, heading and units before the strict reading. */

import type { InputFormat } from '../../configuration.ts';
import { NoTabularData, TabularError } from '../../errors.ts';
import { isNumberText, looksLikeTime } from '../../text/text-values.ts';
import { type NumberStyle, numberStyle, withoutThousands } from '../number-style.ts';
import { breaksOff, footerAt } from './footer.ts';
import { areNames, isCommonUnit, isHeading, isUnitsLine, labviewNames } from './headings-above.ts';
import { type LeftOut, leftOut } from './left-out.ts';
import { type CsvRecord, splitRecords, withoutComments } from './records.ts';
import { withoutRepeats } from './repeated-headings.ts';
import { stackedHeadings } from './stacked-headings.ts';

type Delimiter = ',' | '\t' | ';' | '|';

export interface CsvLayout {
  delimiter: Delimiter;
  numbers: NumberStyle;
  headings: string[];
  /** Units from a separate line below the headings, null without such a line. */
  units: string[] | null;
  hasHeading: boolean;
  /** Lines before the last heading line, or before the first record without one; the strict reader skips them. */
  skipLines: number;
  /** These lines, unchanged. */
  skippedText: string;
  /** Lines of settings stand above the table. */
  hasSettings: boolean;
  /** What stands in the text, and not among the records. */
  leftOut: ReadonlySet<LeftOut>;
  /** The first line of the table, as it stands in the file. */
  firstLine: string;
  records: CsvRecord[];
}

const probeRecords = 200;
const sampleCells = 1_000_000;
/** How many rows below a heading are read to distinguish it from values, also where fewer rows decide the types. */
const headingRows = 20;

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
  const { preamble, delimiter } = findTable(text, isWhole, format);
  const body = text.slice(preamble.characters);
  const first = splitRecords(body, delimiter, 1, isWhole)[0];
  if (first === undefined) {
    if (isWhole) throw new NoTabularData('The file has no rows.');
    throw new TabularError('No line of the file ends within its first megabytes; it is not a table.');
  }
  const rows = Math.min(maxRows, Math.max(headingRows, Math.floor(sampleCells / first.cells.length)));
  const all = splitRecords(body, delimiter, Math.max(rows, headingRows) + 2, isWhole);
  for (const record of all) {
    record.line += preamble.lines;
    record.offset += preamble.characters;
  }
  const once = withoutRepeats(all);
  const below = isWhole ? footerAt(once, first.cells.length) : null;
  const table = once.slice(0, below ?? once.length);
  const isBroken = isWhole && below === null && breaksOff(table, text);
  const unbroken = isBroken ? table.slice(0, -1) : table;
  const read = withoutComments(unbroken);
  const { records, ...layout } = arrange(text, read, delimiter, preamble);
  const isLeftOut: Record<LeftOut, boolean> = {
    repeats: once.length < all.length,
    comments: read.length < unbroken.length,
    footer: below !== null,
    brokenEnd: isBroken,
  };
  return {
    ...layout,
    leftOut: new Set(leftOut.filter((what) => isLeftOut[what])),
    firstLine: /^[^\r\n]*/.exec(body.slice(first.offset))?.[0] ?? '',
    records: records.slice(0, rows),
  };
}

function arrange(
  text: string,
  read: CsvRecord[],
  delimiter: Delimiter,
  preamble: Preamble,
): Omit<CsvLayout, 'leftOut' | 'firstLine'> {
  const numbers = numberStyle(delimiter, read.length === 1 ? read : read.slice(1));
  const { decimalComma } = numbers;
  const records = read.map((record) => withoutThousands(record, numbers));
  const stacked = stackedHeadings(records);
  if (stacked !== null) {
    const last = records[stacked.lines - 1] as CsvRecord;
    return {
      ...{ delimiter, numbers, headings: stacked.names, units: stacked.units, hasHeading: true },
      hasSettings: preamble.hasSettings || stacked.hasSettings,
      skipLines: last.line - 1,
      skippedText: text.slice(0, last.offset),
      records: records.slice(stacked.lines),
    };
  }
  const [first, ...rest] = records as [CsvRecord, ...CsvRecord[]];
  const hasHeading = isHeading(first.cells, rest, decimalComma);
  const { hasSettings } = preamble;
  if (!hasHeading) {
    const { headings, units } = commentedHeadings(preamble.comments, delimiter, first.cells, decimalComma);
    const skippedText = text.slice(0, preamble.characters);
    const skipLines = preamble.lines;
    const found = { delimiter, numbers, headings, units, hasHeading, hasSettings };
    return { ...found, skipLines, skippedText, records };
  }
  const second = rest[0];
  const hasUnits = second !== undefined && isUnitsLine(second.cells, rest.slice(1), decimalComma);
  const heading = hasUnits ? second : first;
  return {
    delimiter,
    numbers,
    headings: first.cells.map((cell) => cell.trim()),
    units: hasUnits ? second.cells.map((cell) => cell.trim()) : null,
    hasHeading,
    hasSettings,
    skipLines: heading.line - 1,
    skippedText: text.slice(0, heading.offset),
    records: hasUnits ? rest.slice(1) : rest,
  };
}

interface Preamble {
  characters: number;
  lines: number;
  delimiter: Delimiter | null;
  /** The last two lines of comment, the last one first, without their `#`. */
  comments: string[];
  /** Some of its lines hold settings, which are not read. */
  hasSettings: boolean;
}

/** The first records of a file by one delimiter. */
interface Probe {
  readonly delimiter: Delimiter;
  readonly records: readonly CsvRecord[];
}

/** Where the table begins, and its delimiter. */
function findTable(
  text: string,
  isWhole: boolean,
  format: InputFormat,
): { preamble: Preamble; delimiter: Delimiter } {
  const preamble = readPreamble(text);
  const body = text.slice(preamble.characters, preamble.characters + (1 << 18));
  const all = isWhole && preamble.characters + body.length === text.length;
  const probes = delimitersOf(preamble, format).map((delimiter) => ({
    delimiter,
    records: splitRecords(body, delimiter, probeRecords, all),
  }));
  const below = belowSettings(probes);
  if (below === null) return { preamble, delimiter: chooseDelimiter(probes) };
  const { delimiter, first, comments } = below;
  const characters = preamble.characters + first.offset;
  const lines = preamble.lines + first.line - 1;
  return {
    preamble: { ...preamble, characters, lines, comments, hasSettings: true },
    delimiter,
  };
}

function delimitersOf(preamble: Preamble, format: InputFormat): readonly Delimiter[] {
  if (preamble.delimiter !== null) return [preamble.delimiter];
  if (format === 'tsv') return ['\t'];
  // In doubt the earlier delimiter wins: a text with tabs or semicolons in every line has its commas within values.
  return format === 'semicolon' ? [';'] : ['\t', ';', '|', ','];
}

/**
 * The table below lines of settings (`Device;X100`), which many recorders write first: the longest run of records with one
 * number of fields, from a heading that has names alone. Null where as many records have the fields of the first line.
 */
function belowSettings(probes: readonly Probe[]): BelowSettings | null {
  let best: BelowSettings | null = null;
  let bestRows = Math.max(...probes.map(likeTheFirst));
  for (const { delimiter, records } of probes) {
    const { from, rows } = longestRun(records);
    const first = records[from];
    if (first === undefined || rows < 3 || rows <= bestRows) continue;
    const above = labviewNames(records[from - 1], first);
    if (above !== null) {
      best = { delimiter, first, comments: [above.join(delimiter)] };
      bestRows = rows;
      continue;
    }
    const areNames = first.cells.every((name) => !isNumberText(name, true) && !looksLikeTime(name));
    // Rows of texts that end with one delimiter more than the heading are no table of their own.
    const isHeading = first.cells.length >= 2 && areNames && first.cells.at(-1)?.trim() !== '';
    if (!isHeading && stackedHeadings(records.slice(from)) === null) continue;
    best = { delimiter, first, comments: [] };
    bestRows = rows;
  }
  return best;
}

interface BelowSettings {
  readonly delimiter: Delimiter;
  readonly first: CsvRecord;
  /** The names of the columns, where the heading has another number of fields than the rows. */
  readonly comments: string[];
}

/** How many records have as many fields as the first, which are several. */
function likeTheFirst({ records }: Probe): number {
  const fields = records[0]?.cells.length ?? 0;
  return fields < 2 ? 0 : records.filter(({ cells }) => cells.length === fields).length;
}

/** The longest run of records with the same number of fields. */
function longestRun(records: readonly CsvRecord[]): { from: number; rows: number } {
  let longest = { from: 0, rows: 0 };
  let from = 0;
  for (const [index, { cells }] of records.entries()) {
    if (cells.length !== records[from]?.cells.length) from = index;
    if (index + 1 - from > longest.rows) longest = { from, rows: index + 1 - from };
  }
  return longest;
}

/** Leading blank lines, lines of comment (`#`) and Excel's `sep=;`. */
function readPreamble(text: string): Preamble {
  const preamble: Preamble = { characters: 0, lines: 0, delimiter: null, comments: [], hasSettings: false };
  for (;;) {
    const line = /^(?:[ \t]*|#([^\r\n]*)|sep=([,;\t|]))(?:\r\n|\r|\n)/i.exec(
      text.slice(preamble.characters, preamble.characters + 65_536),
    );
    if (line === null) return preamble;
    preamble.characters += line[0].length;
    preamble.lines++;
    if (line[1] !== undefined) preamble.comments = [line[1], ...preamble.comments].slice(0, 2);
    if (line[2] !== undefined) preamble.delimiter = line[2] as Delimiter;
  }
}

/**
 * The headings that a line of comment holds, above rows without a heading of their own; a line of units may follow it. It
 * has a name for each field; values (`# 0,1`), settings (`# rate: 10, gain=2`) and sentences are comments.
 */
function commentedHeadings(
  comments: readonly string[],
  delimiter: Delimiter,
  { length: fields }: readonly string[],
  decimalComma: boolean,
): Pick<CsvLayout, 'headings' | 'units'> {
  const namesOf = (comment: string): string[] | null => {
    const names = splitRecords(comment, delimiter, 1, true)[0]?.cells.map((cell) => cell.trim()) ?? [];
    if (fields < 2 || names.length !== fields) return null;
    return areNames(names, decimalComma) ? names : null;
  };
  const [last = null, above = null] = comments.map(namesOf);
  if (above !== null && last?.every(isCommonUnit)) return { headings: above, units: last };
  const numbered = Array.from({ length: fields }, (_, index) => `column_${index + 1}`);
  return { headings: last ?? numbered, units: null };
}

/**
 * The field of a place in the text.
 * @param before the text before it
 * @returns from 1; undefined within the lines before the table
 */
export function fieldAt(text: string, before: string, format: InputFormat): number | undefined {
  const { preamble, delimiter } = findTable(text, true, format);
  if (before.length < preamble.characters) return undefined;
  // The mark stands for the place itself, so that the last record is the one that holds it.
  const body = `${before.slice(preamble.characters)}?`;
  return splitRecords(body, delimiter, Number.POSITIVE_INFINITY, true).at(-1)?.cells.length;
}

/** The delimiter that divides most records as it divides the first; a later one only if it is clearly better. */
function chooseDelimiter(probes: readonly Probe[]): Delimiter {
  let chosen = probes.length === 1 ? (probes[0] as Probe).delimiter : ',';
  let least = 0;
  for (const probe of probes) {
    const share = likeTheFirst(probe) / probe.records.length;
    if (!(share > least)) continue;
    chosen = probe.delimiter;
    least = share + 0.05;
  }
  return chosen;
}
