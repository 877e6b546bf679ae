/** The faults that the strict reader finds in a line, as sentences for the owner of the file. */
import { TabularError } from '../../errors.ts';
import { encodingHint } from '../encoding.ts';
import { fieldOfQuote } from './records.ts';

/** Longest line of a csv file. */
export const maxLineBytes = 8 * 1024 * 1024;
/** What the strict reader holds of a file. A last line that is longer it leaves out without a word. */
export const readerBytes = 2 * maxLineBytes;

/** @param message of the reader, about the record that begins on this line */
export function rowFault(message: string, line: number, delimiter: string): TabularError {
  const counts = /Expected Number of Columns: (\d+) Found: (\d+)/.exec(message);
  if (counts !== null) {
    const [expected, found] = [Number(counts[1]), Number(counts[2])];
    const column = Math.min(expected, found) + 1;
    return new TabularError(`The line has ${found} ${found === 1 ? 'field' : 'fields'}, not ${expected}.`, {
      line,
      column,
    });
  }
  if (/unterminated quote/i.test(message)) {
    return new TabularError('A quote that opens a value is not closed, or text follows the closing quote.', {
      line,
      column: fieldOfQuote(originalLine(message), delimiter),
    });
  }
  if (/unicode|utf-8/i.test(message))
    return new TabularError(`The line contains bytes that are not UTF-8. ${encodingHint}`, { line });
  if (/maximum line size|exceeds/i.test(message)) return lineTooLong(line);
  return new TabularError('The line cannot be read as delimited text.', { line });
}

/** The line as the reader quotes it; the line may itself hold these words. */
function originalLine(message: string): string {
  const label = '\nOriginal Line: ';
  const start = message.indexOf(label);
  const end = message.lastIndexOf('\nValue with unterminated quote');
  return start === -1 || end < start ? '' : message.slice(start + label.length, end);
}

export function lineTooLong(line?: number): TabularError {
  return new TabularError(`The line is longer than ${maxLineBytes} bytes.`, { line });
}

/** @param message of the reader, about no record; null when it names no fault of the file */
export function fileFault(message: string): TabularError | null {
  if (/utf-?8|unicode/i.test(message))
    return new TabularError(`The file contains bytes that are not UTF-8. ${encodingHint}`);
  return /^(Invalid Input|Conversion|Parser|Binder) Error/.test(message)
    ? new TabularError('The file cannot be read as delimited text.')
    : null;
}
