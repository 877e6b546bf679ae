import { useMemo } from 'preact/hooks';
import { formatCount, plural } from '../format.ts';
import type { Table } from './read.ts';
import { maxRows } from './read.ts';

const shownRows = 200;

/** The first rows of a table, in a scrolling frame. */
export function TableView({ table, words }: { table: Table; words: [string, string] }) {
  const rows = table.rows.slice(0, shownRows);
  const numeric = useMemo(
    () => table.columns.map((_column, index) => rows.every((row) => isNumber(row[index] ?? ''))),
    [table],
  );
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys scroll only what has the focus */}
      <section class="preview-frame" tabIndex={0} aria-label="Table">
        <table class="grid-table">
          <thead>
            <tr>
              {table.columns.map((column, index) => (
                <th key={`${index} ${column}`} scope="col" class={numeric[index] ? 'cell-number' : ''}>
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, at) => (
              <tr key={at}>
                {row.map((cell, index) => (
                  <td
                    key={index}
                    class={numeric[index] ? 'cell-number' : ''}
                    title={cell.length > 40 ? cell : undefined}
                  >
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <p class="faint">
        {table.rows.length > shownRows
          ? `The first ${shownRows} of ${table.rows.length >= maxRows ? 'more than ' : ''}${formatCount(table.rows.length)} ${words[1]}`
          : plural(table.rows.length, ...words)}
        {`, ${plural(table.columns.length, 'column', 'columns')}`}
      </p>
    </>
  );
}

const isNumber = (cell: string) => cell === '' || Number.isFinite(Number(cell.replaceAll(',', '')));
