/**
 * The end of a text: lines below a table, as recorders write them (`End of file`, `Total;12;13`, a block of statistics),
 * and a last line that breaks off or is too long.
 */
import { open, stat } from 'node:fs/promises';
import { TabularError } from '../../errors.ts';
import { isNumberText } from '../../text/text-values.ts';
import { carriageReturn, newline } from '../copy-part.ts';
import { maxLineBytes, readerBytes } from './faults.ts';
import { beginsRow, type CsvRecord, maxHeadings, splitRecords } from './records.ts';

/** A summary line may have as many fields as a row: then only these words distinguish it from a faulty row. */
const summary =
  /^(?:end|eof|totals?|sum|summe|gesamt|mean|average|avg|mittel(?:wert)?|durchschnitt|median|min|minimum|max|maximum|std|stdev|rms|count|anzahl|statistics|statistik|summary)\b/i;
const footerBytes = 1 << 20;

/**
 * The index of the first record below the table, null when there is none: the records behind the last row, of which none
 * begins as rows do. Only where all rows begin with a number or a time can they be told from these.
 */
export function footerAt(records: readonly CsvRecord[], fields: number): number | null {
  const isRow = ({ cells }: CsvRecord) => cells.length === fields && beginsRow(cells[0] as string);
  const isBelow = ({ cells }: CsvRecord) => {
    const text = cells.find((cell) => cell.trim() !== '')?.trim() ?? '';
    return cells.length === fields ? summary.test(text) : !/^[+-]?[.,]?\d/.test(text) && !isNumberText(text);
  };
  const end = records.findLastIndex((record) => !isBelow(record)) + 1;
  if (records.slice(end).every(isComment)) return null;
  const from = records.findIndex(isRow);
  const rows = records.slice(from, end).filter((record) => !isComment(record));
  return from !== -1 && from <= maxHeadings && rows.every(isRow) ? end : null;
}

const isComment = ({ cells }: CsvRecord) => cells[0]?.startsWith('#') === true;

/**
 * Whether the last record is one that a recorder left half written, as when it loses its power: no end of a line, and fewer
 * fields than the row above it.
 * @param text it ends as the file does
 */
export function breaksOff(records: readonly CsvRecord[], text: string): boolean {
  const [row, last] = records.slice(-2);
  if (records.length < 3 || row === undefined || last === undefined || isComment(last)) return false;
  return !/[\r\n]$/.test(text) && last.cells.length < row.cells.length;
}

/** How a file is read. */
interface Shape {
  readonly delimiter: string;
  readonly fields: number;
  readonly skipLines: number;
}

export interface FileEnd {
  /** The byte at which it begins. */
  readonly start: number;
  readonly lines: number;
  /** Its first line. */
  readonly text: string;
}

/** Finds the lines below the table at the end of a file. */
export async function findFooter(path: string, shape: Shape): Promise<FileEnd | null> {
  return findEnd(path, shape, (records) => footerAt(records, shape.fields));
}

/** Finds the last line of a file where it breaks off. */
export async function findBrokenEnd(path: string, shape: Shape): Promise<FileEnd | null> {
  return findEnd(path, shape, (records, tail) => (breaksOff(records, tail) ? records.length - 1 : null));
}

async function findEnd(
  path: string,
  { delimiter, skipLines }: Shape,
  find: (records: readonly CsvRecord[], tail: string) => number | null,
): Promise<FileEnd | null> {
  const { bytes, start } = await readTail(path, footerBytes);
  // A character for each byte, so that the place in the text is that in the file.
  const tail = bytes.toString('latin1');
  const begin = start === 0 ? 0 : tail.search(/[\r\n]/) + 1;
  const all = splitRecords(tail.slice(begin), delimiter, Number.POSITIVE_INFINITY, true);
  const records = start === 0 ? all.filter(({ line }) => line > skipLines) : all;
  const at = find(records, tail);
  if (at === null) return null;
  const { offset, cells } = records[at] as CsvRecord;
  return {
    start: start + begin + offset,
    lines: records.length - at,
    text: Buffer.from(cells.join(delimiter), 'latin1').toString(),
  };
}

/** @throws TabularError for a last line that the strict reader would leave out */
export async function refuseLongEnd(path: string): Promise<void> {
  // Nothing is left out of a file that the reader holds as a whole.
  if ((await stat(path)).size <= readerBytes) return;
  const { bytes } = await readTail(path, readerBytes);
  const isEnd = (byte: number) => byte === newline || byte === carriageReturn;
  const last = bytes.findLastIndex((byte) => !isEnd(byte));
  if (last !== -1 && !bytes.subarray(0, last).some(isEnd))
    throw new TabularError(`The last line is longer than ${maxLineBytes} bytes.`);
}

/** The last bytes of a file, and where they begin. */
async function readTail(
  path: string,
  tailBytes: number,
): Promise<{ readonly bytes: Buffer; readonly start: number }> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const start = Math.max(0, size - tailBytes);
    const bytes = Buffer.alloc(size - start);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, start);
    return { bytes: bytes.subarray(0, bytesRead), start };
  } finally {
    await file.close();
  }
}
