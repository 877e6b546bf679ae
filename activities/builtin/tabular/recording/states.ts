/**
 * Channels of states in the coarse level of a recording: the few texts that such a channel has get numbers in their order,
 * so that lowest, highest, first and last of a block are those of the numbers; and the rows at which the text changes
 * are kept, so that a chart of states has every change, and statistics have the time of each state, without reading the
 * rows. A channel of truth values has the texts `false` and `true`.
 *
 * Behind the blocks, for each column of `overview.texts`: its texts as a JSON list, blanks up to a multiple of eight
 * bytes; then for each change three Float64: time, number of the text (NaN where empty), and 1 when no row before has
 * the same time, else 0.
 */
import { type Engine, isResourceFault } from '../engine.ts';

/** A column of texts, each of which has a number. */
export interface StateColumn {
  readonly column: string;
  /** SQL of the number; null where the text is empty. */
  readonly sql: string;
  readonly texts: readonly string[];
}

/** As the reader of series cuts them. */
const textCharacters = 1024;
/** Each needs its own pass over all rows. */
const maxColumns = 100;
const maxTexts = 4096;
const maxTextBytes = 256 * 1024;
const maxChanges = 100_000;
const maxChangesOfAll = 1_000_000;
/** Rows of the first search: a column with many texts shows them there, and the search stops. */
const sampleRows = 100_000;

/** Finds the columns that have few different texts, with their texts. */
export async function findStates(
  engine: Engine,
  path: string,
  columns: readonly string[],
): Promise<StateColumn[]> {
  const states: StateColumn[] = [];
  for (const column of columns.slice(0, maxColumns)) {
    const texts = await numberTexts(engine, path, column);
    if (texts !== null)
      states.push({ column, sql: `enum_code(CAST(${cut(column)} AS ${column}_state))`, texts });
  }
  return states;
}

/** A channel of truth values, which has two states. */
export const booleanColumn = (column: string): StateColumn => ({
  column,
  sql: column,
  texts: ['false', 'true'],
});

const cut = (column: string) => `left(${column}, ${textCharacters})`;

/** Makes a type of a column's texts, in their order; null when they are too many. */
async function numberTexts(engine: Engine, path: string, column: string): Promise<string[] | null> {
  const table = `${column}_texts`;
  const run = (sql: string, parameters: string[] = []) => engine.rows({ sql, parameters });
  try {
    const [sample] = await run(
      `SELECT count(DISTINCT ${cut(column)}) FROM (SELECT ${column} FROM read_parquet($1) LIMIT ${sampleRows})`,
      [path],
    );
    if (Number(sample?.[0]) > maxTexts) return null;
    await run(
      `CREATE OR REPLACE TEMP TABLE ${table} AS
         SELECT DISTINCT ${cut(column)} AS v FROM read_parquet($1) WHERE ${column} IS NOT NULL`,
      [path],
    );
    const rows = await run(`SELECT v FROM ${table} ORDER BY v LIMIT ${maxTexts + 1}`);
    const texts = rows.map(([text]) => String(text));
    const areFew = texts.length > 0 && texts.length <= maxTexts;
    if (!areFew || Buffer.byteLength(JSON.stringify(texts)) > maxTextBytes) return null;
    await run(`DROP TYPE IF EXISTS ${column}_state`);
    await run(`CREATE TYPE ${column}_state AS ENUM (SELECT v FROM ${table} ORDER BY v)`);
    return texts;
  } catch (error) {
    // A column whose texts this machine cannot count has too many for states.
    if (isResourceFault(error)) return null;
    throw error;
  } finally {
    await run(`DROP TABLE IF EXISTS ${table}`);
  }
}

/** Gathers the rows at which the number of a text changes. */
export class Changes {
  readonly #most: number;
  #numbers = new Float64Array(3 * 64);
  #count = 0;
  #last: number | undefined;

  /** @param columns how many columns of texts there are */
  constructor(columns: number) {
    this.#most = Math.min(maxChanges, Math.floor(maxChangesOfAll / columns));
  }

  /** @param before the time of the row before the first */
  add(times: Float64Array, codes: Float64Array, before: number): void {
    if (this.#count > this.#most) return;
    let last = this.#last;
    for (let i = 0; i < codes.length; i++) {
      const code = codes[i] as number;
      if (code === last || (last !== undefined && Number.isNaN(code) && Number.isNaN(last))) continue;
      last = code;
      const time = times[i] as number;
      this.#push(time, code, time > (i === 0 ? before : (times[i - 1] as number)));
      if (this.#count > this.#most) return;
    }
    this.#last = last;
  }

  /** Null when there were too many. */
  get numbers(): Float64Array | null {
    return this.#count > this.#most ? null : this.#numbers.subarray(0, 3 * this.#count);
  }

  #push(time: number, code: number, isFirstOfItsTime: boolean): void {
    const at = 3 * this.#count;
    if (at === this.#numbers.length) {
      const larger = new Float64Array(2 * at);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    this.#numbers[at] = time;
    this.#numbers[at + 1] = code;
    this.#numbers[at + 2] = isFirstOfItsTime ? 1 : 0;
    this.#count += 1;
  }
}

/** The texts as bytes that fit between numbers. */
export function textPart(texts: readonly string[]): Float64Array {
  const json = Buffer.from(JSON.stringify(texts));
  const numbers = new Float64Array(Math.ceil(json.length / Float64Array.BYTES_PER_ELEMENT));
  const bytes = new Uint8Array(numbers.buffer).fill(0x20);
  bytes.set(json);
  return numbers;
}
