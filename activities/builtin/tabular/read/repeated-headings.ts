/** The heading again between rows: in files put together from several, and in those of loggers that started anew. */

import { isValueText } from '../text/text-values.ts';
import { copyPart } from './copy-part.ts';
import type { CsvRecord } from './csv-records.ts';

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
  // A character for each byte: no character is cut between two chunks.
  const wanted = Buffer.from(heading).toString('latin1');
  let found = 0;
  let rest = '';
  const blanked = (text: string) =>
    Buffer.from(
      text.replace(/[^\r\n]+/g, (line) => (line === wanted && found++ > 0 ? '' : line)),
      'latin1',
    );
  const of = (chunk: Buffer) => {
    const text = rest + chunk.toString('latin1');
    const end = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1;
    rest = text.slice(end);
    return blanked(text.slice(0, end));
  };
  await copyPart({ from, to }, { of, rest: () => blanked(rest) }, signal);
  return Math.max(0, found - 1);
}
