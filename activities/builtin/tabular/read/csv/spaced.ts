/**
 * Columns that runs of blanks separate, as MATLAB, Octave, gnuplot and Fortran programs write them. The strict reader
 * knows no such delimiter: it reads a copy with tabs, line for line.
 */
import { isMissingText, isNumberText, looksLikeTime } from '../../text/text-values.ts';
import { changedLines, copyPart, lineRecoding } from '../copy-part.ts';
import { areNames, isCommonUnit } from './headings-above.ts';
import type { CsvLayout } from './sample.ts';

export interface SpacedTable {
  /** The lines above the rows with tabs: heading and units if there are any, other lines blank. */
  readonly top: string;
  /** The characters that it stands for. */
  readonly characters: number;
  /** Some lines above the heading hold settings, which are not read. */
  readonly hasSettings: boolean;
}

interface Line {
  readonly text: string;
  readonly start: number;
}

const probeCharacters = 1 << 18;
const comment = /^[#%!]/;
const quote = 34;

/**
 * Null when the text is no such table: most of its lines follow each other with the same number of fields, of which at
 * least half are numbers or times.
 */
export function findSpaced(text: string, isWhole: boolean, layout: CsvLayout): SpacedTable | null {
  const isUndivided = layout.headings.length === 1;
  if (!isUndivided && !hasNumberPairs(layout)) return null;
  const lines = linesOf(text.slice(0, probeCharacters), isWhole && text.length <= probeCharacters);
  const rows = longestRun(lines.filter(isFilled));
  const count = fieldsOf(rows[0]?.text ?? '').length;
  if (count < 2 || !areTable(rows.map((row) => fieldsOf(row.text)))) return null;
  const begin = lines.indexOf(rows[0] as Line);
  const heading = headingAbove(lines.slice(0, begin), count);
  if (rows.length < (heading.at === null ? 2 : 1) || rows.length * 2 < lines.filter(isFilled).length - 2)
    return null;
  const hasSettings = lines.slice(0, heading.at ?? begin).some(isFilled);
  // Commas may seem to divide a table with decimal commas. Texts above the table make that unlikely.
  if (!isUndivided && hasSettings) return null;
  const top = lines.slice(0, begin).map((_, index) => heading.lines.get(index) ?? '');
  return { top: top.map((line) => `${line}\n`).join(''), characters: (rows[0] as Line).start, hasSettings };
}

/** Commas divide it such that some column has two numbers in each row. */
function hasNumberPairs({ delimiter, headings, records }: CsvLayout): boolean {
  const isPair = (cell: string | undefined) => /^\s*\d+\s+[+-]?\d+\s*$/.test(cell ?? '');
  return delimiter === ',' && headings.some((_, index) => records.every(({ cells }) => isPair(cells[index])));
}

function linesOf(text: string, isWhole: boolean): Line[] {
  const lines = [...text.matchAll(/([^\r\n]*)(\r\n|\r|\n|$)/g)].filter(([all]) => all !== '');
  if (!isWhole) lines.pop();
  return lines.map((match) => ({ text: match[1] as string, start: match.index }));
}

function isFilled({ text }: Line): boolean {
  return text.trim() !== '' && !isComment(text);
}

function isComment(line: string): boolean {
  return comment.test(line.trimStart());
}

/** Fields as written; blanks within quotes divide none, and a quote that no other follows is a character. */
function fieldsOf(line: string): string[] {
  const fields: string[] = [];
  const lastQuote = line.lastIndexOf('"');
  let at = 0;
  while (at < line.length) {
    const start = at;
    let isQuoted = false;
    for (; at < line.length; at++) {
      const code = line.charCodeAt(at);
      if (code === quote) isQuoted = !isQuoted && at < lastQuote;
      else if (!isQuoted && isBlank(code)) break;
    }
    if (at > start) fields.push(line.slice(start, at));
    at++;
  }
  return fields;
}

function isBlank(code: number): boolean {
  if (code > 32 && code < 0xa0) return false;
  return code === 32 || (code >= 9 && code <= 13) || /\s/.test(String.fromCharCode(code));
}

/** The longest run of lines with the same number of fields, of which some are values. */
function longestRun(lines: readonly Line[]): readonly Line[] {
  let longest: Line[] = [];
  let run: Line[] = [];
  let count = 0;
  for (const line of lines) {
    const fields = fieldsOf(line.text);
    if (!fields.some(isValue)) run = [];
    else if (fields.length === count) run.push(line);
    else run = [line];
    count = fields.length;
    if (run.length > longest.length) longest = run;
  }
  return longest;
}

function isValue(field: string): boolean {
  return isNumberText(plainNumber(field)) || isNumberText(field, true) || looksLikeTime(field);
}

function areTable(rows: readonly string[][]): boolean {
  const isMissing = (field: string) => isMissingText(plainNumber(field));
  const columns = rows[0]?.filter((_, index) => {
    const fields = rows.map((row) => row[index] as string);
    return fields.some(isValue) && fields.every((field) => isValue(field) || isMissing(field));
  });
  return columns !== undefined && columns.length * 2 >= (rows[0]?.length ?? 0);
}

/** The heading, and the units below it, right above the rows; by the index of their lines. */
function headingAbove(
  lines: readonly Line[],
  count: number,
): { at: number | null; lines: Map<number, string> } {
  const filled = lines.flatMap(({ text }, index) => (text.trim() === '' ? [] : [index]));
  const namesAt = (index: number | undefined): string[] | null =>
    index === undefined ? null : namesOf((lines[index] as Line).text, count);
  const [above, last] = [filled.at(-2), filled.at(-1)];
  const [names, units] = [namesAt(above), namesAt(last)];
  if (names !== null && units?.every(isCommonUnit)) {
    const bracketed = units.map((unit) => (/^[[(-]/.test(unit) ? unit : `[${unit}]`));
    const found: [number, string][] = [
      [above as number, names.join('\t')],
      [last as number, bracketed.join('\t')],
    ];
    return { at: above as number, lines: new Map(found) };
  }
  if (units === null) return { at: null, lines: new Map() };
  return { at: last as number, lines: new Map([[last as number, units.join('\t')]]) };
}

/** As many names as columns: words, words with their units beside them, or what two blanks or a tab divide. */
function namesOf(line: string, count: number): string[] | null {
  const text = line.trim().replace(comment, '').trim();
  const words = fieldsOf(text);
  const besideUnits = fieldsOf(text.replace(/(\S)[ \t]+(?=[[(])/g, '$1\u0001'));
  const ways = [words, besideUnits.map((name) => name.replaceAll('\u0001', ' ')), text.split(/\s{2,}|\t/)];
  return ways.find((names) => names.length === count && areNames(names, true)) ?? null;
}

/** Fortran's `1.5D-03` as `1.5E-03`; asterisks stand for a number that is too wide. */
function plainNumber(field: string): string {
  if (/^\*{2,}$/.test(field)) return 'NaN';
  return /^[+-]?(?:\d+\.\d*|\.\d+)[dD][+-]?\d{1,3}$/.test(field) ? field.replace(/d/i, 'E') : field;
}

function tabbed(line: string): string {
  return isComment(line) ? '' : fieldsOf(line).map(plainNumber).join('\t');
}

/** The text of a sample with tabs, as the copy has it. */
export function withTabs(text: string, { top, characters }: SpacedTable): string {
  return top + changedLines(text.slice(characters), tabbed);
}

/** Writes the copy with tabs. */
export async function copyWithTabs(
  from: string,
  to: string,
  { top, skippedBytes }: { readonly top: string; readonly skippedBytes: number },
  signal?: AbortSignal,
): Promise<void> {
  const part = { from, to, start: skippedBytes, top };
  await copyPart(part, lineRecoding('utf8', tabbed), signal);
}
