/** What commands print: tables for people, JSON for programs. */

export type Cell = string | number | boolean | null | undefined;
/** Columns by heading, each with its cell of a row. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => Cell>>;

/** A longer cell moves the rest of its own row, not of all rows. */
const widestColumn = 80;

/** Rows below their headings, columns aligned; empty cells show as `-`. */
export const table = <Row>(rows: readonly Row[], columns: Columns<Row>): string => pagedTable(columns)(rows);

/** A table whose rows come page by page: the headings are above the first, and columns are never narrower than before. */
export function pagedTable<Row>(columns: Columns<Row>): (rows: readonly Row[]) => string {
  let headings = [Object.keys(columns)];
  const widths = headings[0]!.map(() => 0);
  return (rows) => {
    const lines = [...headings, ...rows.map((row) => Object.values(columns).map((cell) => shown(cell(row))))];
    headings = [];
    for (const line of lines) {
      for (const [index, { length }] of line.entries())
        if (length <= widestColumn) widths[index] = Math.max(widths[index]!, length);
    }
    return lines.map((line) => alignedLine(line, widths)).join('\n');
  };
}

const alignedLine = (cells: readonly string[], widths: readonly number[]) =>
  cells
    .map((cell, index) => cell.padEnd(widths[index]!))
    .join('  ')
    .trimEnd();

/** Names and values, one a line. */
export function facts(entries: Readonly<Record<string, Cell>>): string {
  const width = Math.max(...Object.keys(entries).map((name) => name.length));
  return Object.entries(entries)
    .map(([name, value]) => `${name.padEnd(width)}  ${shown(value)}`)
    .join('\n');
}

function shown(cell: Cell): string {
  if (cell === null || cell === undefined || cell === '') return '-';
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
  return singleLine(String(cell));
}

/** One line, without characters that move the cursor, colour the terminal or turn the direction of what follows. */
export function singleLine(text: string): string {
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]+/g, ' ');
}

/** `2026-03-01 10:00:05Z`: shorter than on the wire, and still sorts. */
export function time(value: string | null | undefined): string | null {
  return value ? `${value.slice(0, 19).replace('T', ' ')}Z` : null;
}

/** `1 Mar 2026, 10:00` by the clock of this machine: within names, where a person reads it. */
export function localTime(at: Date): string {
  return at.toLocaleString('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
  });
}

export function bytes(count: number): string {
  if (count < 1024) return `${count} B`;
  const units = ['KB', 'MB', 'GB', 'TB'];
  const below = Math.floor(Math.log2(count) / 10);
  // What would be rounded to 1024.0 is 1.0 of the next unit.
  const power = Math.min(units.length, (count / 1024 ** below).toFixed(1) === '1024.0' ? below + 1 : below);
  return `${(count / 1024 ** power).toFixed(1)} ${units[power - 1]}`;
}

/** The line below a page of a list that has more. */
export function pageNote(list: { page: number; totalPages: number; totalCount: number }): string {
  if (list.totalPages <= 1) return '';
  return `\nPage ${list.page} of ${list.totalPages}, ${list.totalCount} in total.`;
}
