/** The encoding of an uploaded text: its byte order mark says it, else the configuration, else its bytes. */
import { isUtf8 } from 'node:buffer';
import type { TextEncoding } from '../configuration.ts';

export interface FoundEncoding {
  readonly name: Exclude<TextEncoding, 'auto'>;
  /** Bytes of the mark. */
  readonly mark: number;
  /** Neither a mark nor the configuration says it. */
  readonly isGuess: boolean;
}

/** Follows a fault that another encoding would explain. */
export const encodingHint =
  'If the text has another encoding, name it in the configuration of the node as encoding.';

/**
 * @param head the start of the text
 * @param isWhole whether that is all of it; if not, its last character may be cut off
 */
export function encodingOf(head: Buffer, isWhole: boolean, configured: TextEncoding): FoundEncoding {
  const marked = byteOrderMark(head);
  if (marked !== null) return { ...marked, isGuess: false };
  if (configured !== 'auto') return { name: configured, mark: 0, isGuess: false };
  const isGuess = !beginsAsUtf8(head, isWhole) && isWestern(head);
  return { name: isGuess ? 'windows-1252' : 'utf-8', mark: 0, isGuess };
}

function byteOrderMark(head: Buffer): Pick<FoundEncoding, 'name' | 'mark'> | null {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return { name: 'utf-8', mark: 3 };
  if (head[0] === 0xff && head[1] === 0xfe) return { name: 'utf-16le', mark: 2 };
  if (head[0] === 0xfe && head[1] === 0xff) return { name: 'utf-16be', mark: 2 };
  return null;
}

const longestCharacter = 4;

function beginsAsUtf8(head: Buffer, isWhole: boolean): boolean {
  const cuts = isWhole ? 1 : longestCharacter;
  return Array.from({ length: cuts }, (_, cut) => head.length - cut).some((end) =>
    isUtf8(head.subarray(0, end)),
  );
}

/**
 * What no Western text of an instrument has: controls, what is another letter in the code pages of Eastern Europe, three
 * letters beyond ASCII in a row, as Greek and Cyrillic have them, and characters of UTF-8. Text without these says the
 * same in all of the code pages that it may be in.
 */
const foreign = new RegExp(
  [
    '[^\\t\\n\\r -~\\xa0°±µ·´§×÷²³ÄÖÜäöüßÁÉÍÓÚáéíóúÇçÔôâîëý]',
    '[^\\t\\n\\r -~]{3}',
    '[\\xc2-\\xdf][\\x80-\\xbf]',
    // Behind the letters of a unit they are powers; elsewhere they may be letters.
    '(?<!(?:^|[^A-Za-z])[A-Za-z]{1,2})[²³]',
    '[²³](?=[A-Za-z])',
  ].join('|'),
);

/** Whether the text is Windows-1252 or Latin-1 beyond doubt; a wrong guess would be worse than a refusal. */
function isWestern(head: Buffer): boolean {
  return !foreign.test(head.toString('latin1'));
}
