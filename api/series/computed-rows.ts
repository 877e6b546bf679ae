/** Values of derived channels as a table of the database, some rows at a time. */
import { DOUBLE, type DuckDBConnection, DuckDBDataChunk } from '@duckdb/node-api';
import { textOf } from './scan.ts';

const table = 'computed';
const vectorRows = 2048;

/** SQL of the value of a source's derived channel at this place; empty where there is none. */
export const computedColumn = (place: number) => `nullif(v${place}, 'nan'::DOUBLE)`;

export class ComputedRows {
  readonly #connection: DuckDBConnection;
  readonly #columns: readonly Float64Array[];
  #count = 0;

  /** @param most rows that it can hold; the first column is the number of the row in its file */
  constructor(connection: DuckDBConnection, derived: number, most: number) {
    this.#connection = connection;
    this.#columns = Array.from({ length: 1 + derived }, () => new Float64Array(most));
  }

  get count(): number {
    return this.#count;
  }

  /** @returns how many of the rows from `start` on found room */
  add(columns: readonly Float64Array[], start: number): number {
    const all = columns[0]?.length ?? 0;
    const room = (this.#columns[0] as Float64Array).length - this.#count;
    const rows = Math.min(room, all - start);
    for (const [index, into] of this.#columns.entries())
      into.set((columns[index] as Float64Array).subarray(start, start + rows), this.#count);
    this.#count += rows;
    return rows;
  }

  /**
   * Puts the rows into the table, in place of those before.
   * @returns SQL of the file's rows that are in it, in their order
   */
  async toTable(file: string): Promise<string> {
    const [numbers] = this.#columns as readonly [Float64Array];
    const names = ['n', ...this.#columns.slice(1).map((_, index) => `v${index}`)];
    await this.#connection.run(
      `CREATE OR REPLACE TEMP TABLE ${table} (${names.map((name) => `${name} DOUBLE`).join(', ')})`,
    );
    const appender = await this.#connection.createAppender(table);
    for (let start = 0; start < this.#count; start += vectorRows) {
      const end = Math.min(start + vectorRows, this.#count);
      const chunk = DuckDBDataChunk.create(this.#columns.map(() => DOUBLE));
      chunk.setColumns(this.#columns.map((column) => Array.from(column.subarray(start, end))));
      appender.appendDataChunk(chunk);
    }
    appender.closeSync();
    const [first, last] = this.#count === 0 ? [0, -1] : [numbers[0], numbers[this.#count - 1]];
    this.#count = 0;
    return `read_parquet(${textOf(file)}, file_row_number = true) JOIN ${table} ON file_row_number = CAST(n AS BIGINT)
      WHERE file_row_number >= ${first} AND file_row_number <= ${last} ORDER BY n`;
  }
}
