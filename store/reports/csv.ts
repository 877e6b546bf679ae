/** A report as csv (RFC 4180, UTF-8 with a mark so that spreadsheets read it as such). */
import type { Cell } from '../../domain/reports/report.ts';
import { guardedText, needsQuotes } from '../../domain/reports/spreadsheet-text.ts';

function textOf(cell: Cell): string {
  switch (cell.type) {
    case 'empty':
      return '';
    case 'string':
      return fieldOf(cell.value);
    case 'number':
    case 'boolean':
      return String(cell.value);
    case 'date':
      return cell.value.toISOString();
    case 'duration':
      return durationText(cell.value);
  }
}

/** The other types have no text that needs quotes. */
function fieldOf(text: string): string {
  const safe = guardedText(text);
  return needsQuotes.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** `[-]hours:mm:ss`, with milliseconds where there are any. */
function durationText(seconds: number): string {
  const total = Math.round(Math.abs(seconds) * 1000);
  const two = (number: number) => String(Math.floor(number)).padStart(2, '0');
  const milliseconds = total % 1000;
  const whole = total / 1000;
  const fraction = milliseconds === 0 ? '' : `.${String(milliseconds).padStart(3, '0')}`;
  return `${seconds < 0 ? '-' : ''}${two(whole / 3600)}:${two((whole / 60) % 60)}:${two(whole % 60)}${fraction}`;
}

export async function* writeCsv(
  header: readonly string[],
  batches: AsyncIterable<readonly (readonly Cell[])[]>,
): AsyncGenerator<Buffer> {
  yield Buffer.from(`\ufeff${header.map(fieldOf).join(',')}\r\n`);
  for await (const rows of batches) {
    let lines = '';
    for (const row of rows) lines += `${row.map(textOf).join(',')}\r\n`;
    if (lines !== '') yield Buffer.from(lines);
  }
}
