/** The start of a file as text; bytes that are no text are refused with their place. */
import { isUtf8 } from 'node:buffer';
import { excerpt, TabularError, type TabularPlace } from '../errors.ts';
import { encodingHint } from './encoding.ts';
import type { PlainInput } from './prepare-input.ts';

/** The column of a place, from 1, by the text before it; `text` is the whole start with its faults replaced. */
type ColumnAt = (text: string, before: string) => number | undefined;

/** @throws TabularError for bytes that are not UTF-8 text */
export function decodeHead(
  { head, isWhole }: Pick<PlainInput, 'head' | 'isWhole'>,
  columnAt: ColumnAt,
): string {
  const nul = head.indexOf(0);
  if (nul !== -1) throw new TabularError('The file is binary, not text.', placeOf(head, nul, columnAt));
  try {
    // With `stream`, a character cut off at the end of the sample is not a fault.
    return new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: !isWhole });
  } catch {
    const at = firstBadByte(head);
    const byte = head[at]?.toString(16).padStart(2, '0') ?? '';
    throw new TabularError(
      `The byte ${excerpt(byte)} is not UTF-8. ${encodingHint}`,
      placeOf(head, at, columnAt),
    );
  }
}

function placeOf(head: Buffer, at: number, columnAt: ColumnAt): TabularPlace {
  const before = head.toString('utf8', 0, at);
  return { line: before.split(/\r\n|\r|\n/).length, column: columnAt(head.toString('utf8'), before) };
}

/** The first byte of a faulty or unfinished character. */
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
  // What comes before is good, or ends in the start of a character that the next byte does not continue.
  while (!isUtf8(head.subarray(0, low))) low--;
  return low;
}
