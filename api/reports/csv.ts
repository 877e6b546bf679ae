/** A report as csv (RFC 4180, UTF-8 with a mark so that spreadsheets read it as such). */
import { stringify } from 'csv-stringify/sync';
import type { Cell } from '../../domain/reports/report.ts';

/** Text that a spreadsheet would read as a formula gets an apostrophe in front. */
const formula = /^(?=[=+\-@\t\r])/;
/**
 * The same within a text: spreadsheets that separate columns by `;` or tabs see a cell or a line begin there, even
 * within quotes. Quotes that follow open a new cell.
 */
const innerFormula = /(?<=[;\t\r\n])(?="*[=+\-@\t\r])/g;
/** At the end of a quoted text the closing quote would open a cell with the text that follows. */
const innerEnd = /(?<=[;\t\r\n]"*)$/;
/** RFC 4180: a text with one of these needs quotes. */
const quoted = /[",\r\n]/;

function guarded(text: string): string {
  const safe = text.replace(formula, "'").replaceAll(innerFormula, "'");
  return quoted.test(safe) ? safe.replace(innerEnd, "'") : safe;
}

function textOf(cell: Cell): string {
  switch (cell.type) {
    case 'empty':
      return '';
    case 'string':
      return guarded(cell.value);
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
