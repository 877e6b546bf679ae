/** Records and fields of a delimited text, read leniently. */
import { isMissingText, isNumberText, looksLikeTime } from '../../text/text-values.ts';

/** The most lines of a heading. More lines above the rows are not read as a heading. */
export const maxHeadings = 10;

export interface CsvRecord {
  /** Line of the file on which the record begins, from 1. */
  line: number;
  /** Where it begins in the sampled text, in characters. */
  offset: number;
  cells: string[];
}

/** Records of a text by RFC 4180, blank lines left out; quotes within unquoted values are plain characters. */
export function splitRecords(
  text: string,
  delimiter: string,
  maxRecords: number,
  isWhole: boolean,
): CsvRecord[] {
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

/** The records without lines of comment (`#`) between them. */
export function withoutComments(records: readonly CsvRecord[]): CsvRecord[] {
  const others = records.filter(({ cells }, index) => index === 0 || !cells[0]?.startsWith('#'));
  const begins = ({ cells }: CsvRecord) => beginsRow(cells[0] ?? '');
  const first = others.findIndex((record, index) => index > 0 && begins(record));
  const areRows = first > 0 && first <= maxHeadings && others.slice(first).every(begins);
  return areRows ? others : [...records];
}

/** Whether the first field of a row is none that `#` may begin, as it may a text: below such fields it begins a comment. */
export function beginsRow(first: string): boolean {
  const isNumber = isNumberText(first) || isNumberText(first, true);
  return first.trim() === '' || isNumber || looksLikeTime(first) || isMissingText(first);
}

interface Cell {
  value: string;
  end: number;
  newlines: number;
  /** Its quotes are closed at its end. */
  isWhole: boolean;
}

function readCell(text: string, from: number, delimiter: string): Cell {
  let at = from;
  if (text[at] !== '"') {
    while (at < text.length && text[at] !== delimiter && text[at] !== '\n' && text[at] !== '\r') at++;
    return { value: text.slice(from, at), end: at, newlines: 0, isWhole: true };
  }
  let value = '';
  let isClosed = false;
  at++;
  for (;;) {
    const quote = text.indexOf('"', at);
    const end = quote === -1 ? text.length : quote;
    value += text.slice(at, end);
    at = end + 1;
    isClosed = quote !== -1;
    if (quote === -1 || text[at] !== '"') break;
    value += '"';
    at++;
  }
  at = Math.min(at, text.length);
  const tail = at;
  while (at < text.length && text[at] !== delimiter && text[at] !== '\n' && text[at] !== '\r') at++;
  const newlines = value.split(/\r\n|\r|\n/).length - 1;
  return { value: value + text.slice(tail, at), end: at, newlines, isWhole: isClosed && at === tail };
}

/** The field, from 1, whose quotes are faulty: not closed, or closed before the end of the field. */
export function fieldOfQuote(line: string, delimiter: string): number | undefined {
  let at = 0;
  for (let field = 1; ; field++) {
    const cell = readCell(line, at, delimiter);
    if (!cell.isWhole) return field;
    if (line[cell.end] !== delimiter) return undefined;
    at = cell.end + 1;
  }
}
