/** The heading again between rows: in files put together from several, and in those of loggers that started anew. */

import { isValueText } from '../../text/text-values.ts';
import { copyPart, lineRecoding } from '../copy-part.ts';
import type { CsvRecord } from './records.ts';

/** The records without those that are the first again, where it has names alone. */
export function withoutRepeats(records: readonly CsvRecord[]): CsvRecord[] {
  const names = records[0]?.cells ?? [];
  const isName = (cell: string) => cell.trim() !== '' && !isValueText(cell);
  if (names.length < 2 || !names.every(isName)) return [...records];
  const isAgain = ({ cells }: CsvRecord) =>
    cells.length === names.length && cells.every((cell, column) => cell === names[column]);
  return records.filter((record, index) => index === 0 || !isAgain(record));
}

/**
 * Writes a copy in which the lines that are the heading again are blank, so that the others keep their numbers.
 * @returns how many there were
 */
export async function copyWithoutRepeats(
  from: string,
  to: string,
  heading: string,
  signal?: AbortSignal,
): Promise<number> {
  // A character for each byte, so that bytes which are no UTF-8 stay as they are.
  const wanted = Buffer.from(heading).toString('latin1');
  let found = 0;
  const blanked = (line: string) => (line === wanted && found++ > 0 ? '' : line);
  await copyPart({ from, to }, lineRecoding('latin1', blanked), signal);
  return Math.max(0, found - 1);
}
