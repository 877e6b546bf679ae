/** A report as csv (RFC 4180, UTF-8 with a mark so that spreadsheets read it as such). */
import { stringify } from 'csv-stringify/sync';
import type { Cell } from '../../domain/reports/report.ts';
import { guardedText, quoted } from '../../domain/reports/spreadsheet-text.ts';

function textOf(cell: Cell): string {
  switch (cell.type) {
    case 'empty':
      return '';
    case 'string':
      return guardedText(cell.value);
    case 'number':
    case 'boolean':
      return String(cell.value);
    case 'date':
      return cell.value.toISOString();
    case 'duration':
      return durationText(cell.value);
  }
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
  const line = (values: readonly (readonly string[])[]) =>
    Buffer.from(
      stringify(
        values.map((row) => [...row]),
        { record_delimiter: 'windows', quoted_match: quoted },
      ),
    );
  yield Buffer.concat([
    Buffer.from('\ufeff'),
    line([header.map((value) => textOf({ type: 'string', value }))]),
  ]);
  for await (const rows of batches) {
    if (rows.length > 0) yield line(rows.map((row) => row.map(textOf)));
  }
}
