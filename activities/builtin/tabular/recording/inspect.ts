/**
 * One pass over the written Parquet file: is it in the order of time, are all numbers finite, what are their ranges;
 * and the coarse level of the recording.
 *
 * The coarse level keeps, of every block of consecutive rows and every channel of numbers or truth values, four real
 * points: lowest, highest, first and last. A chart of the whole recording is drawn from these without reading the rows,
 * and loses no extreme. Its form (little-endian Float64, no header; `description.overview` says where):
 *
 * 1. `blocks` times: first time, last time, number of rows;
 * 2. for each column, `blocks` times: time and value of lowest, highest, first, last; NaN where all rows are empty;
 * 3. texts and changes of the columns of texts, see `states.ts`.
 */
import type { DuckDBVector } from '@duckdb/node-api';
import type { Engine } from '../engine.ts';
import { Changes, findStates, type StateColumn, textPart } from './states.ts';

export interface ColumnFacts {
  min: number;
  max: number;
  values: number;
  areIntegers: boolean;
  hasInfinity: boolean;
}

export interface Inspection {
  rowCount: number;
  from: number;
  to: number;
  isSorted: boolean;
  rowsWithoutTime: number;
  facts: Map<string, ColumnFacts>;
  overview: Overview | null;
}

interface Overview {
  blocks: number;
  blockRows: number;
  columns: readonly string[];
  texts: readonly { column: string; bytes: number; changes: number | null }[];
  parts: Float64Array[];
}

const smallestBlockRows = 512;
const overviewBytes = 32 * 1024 * 1024;
/** Below this the rows themselves are read fast enough. */
const overviewFromRows = 50_000;
const numbersPerBlock = 8;

/** Columns read together; the copies that JavaScript gets of a chunk of rows are bounded by it. */
const columnsPerPass = 200;

/**
 * @param columns the numeric channels, generated names
 * @param texts the channels of texts
 */
export async function inspect(
  engine: Engine,
  path: string,
  columns: readonly string[],
  texts: readonly string[],
  rowCount: number,
): Promise<Inspection> {
  const isLong = rowCount >= overviewFromRows;
  const states = isLong ? await findStates(engine, path, texts) : [];
  const all = [...columns.map((column) => ({ column, sql: column })), ...states];
  const bytesPerBlock = all.length * numbersPerBlock * Float64Array.BYTES_PER_ELEMENT;
  const blockRows = Math.max(smallestBlockRows, Math.ceil((rowCount * bytesPerBlock) / overviewBytes));
  const blocks = isLong && all.length > 0 ? Math.ceil(rowCount / blockRows) : 0;
  const changes = states.map(() => new Changes(states.length));
  let whole: Inspection | null = null;
  for (let from = 0; from === 0 || from < all.length; from += columnsPerPass) {
    const part = all.slice(from, from + columnsPerPass);
    const followed = part.map((_, index) => changes[from + index - columns.length]);
    const pass = new Pass(
      part.map(({ column }) => column),
      followed,
      blocks,
      blockRows,
    );
    await run(
      engine,
      path,
      part.map(({ sql }) => sql),
      pass,
    );
    const found = pass.result();
    if (whole === null) whole = found;
    else {
      for (const [column, facts] of found.facts) whole.facts.set(column, facts);
      whole.overview?.parts.push(...(found.overview?.parts.slice(1) ?? []));
    }
  }
  if (whole?.overview) addStates(whole.overview, columns, states, changes);
  return whole as Inspection;
}

function addStates(
  overview: Overview,
  columns: readonly string[],
  states: readonly StateColumn[],
  changes: readonly Changes[],
): void {
  overview.columns = [...columns, ...states.map(({ column }) => column)];
  overview.texts = states.map(({ column, texts }, index) => {
    const text = textPart(texts);
    const numbers = changes[index]?.numbers ?? null;
    overview.parts.push(text, ...(numbers === null ? [] : [numbers]));
    return { column, bytes: text.byteLength, changes: numbers === null ? null : numbers.length / 3 };
  });
}

async function run(engine: Engine, path: string, columns: readonly string[], pass: Pass): Promise<void> {
  const values = ['t', ...columns].map((column) => `coalesce(CAST(${column} AS DOUBLE), 'nan'::DOUBLE)`);
  const query = { sql: `SELECT ${values.join(', ')} FROM read_parquet($1)`, parameters: [path] };
  await engine.stream(query, async (result) => {
    for (;;) {
      const chunk = await result.fetchChunk();
      if (chunk === null || chunk.rowCount === 0) return;
      pass.add(values.map((_, index) => doubles(chunk.getColumnVector(index))));
    }
  });
}

/**
 * The numbers of a DOUBLE vector without nulls. The vector keeps them in a typed array, which its type declarations
 * hide; reading it value by value through `getItem` takes ten times as long.
 */
function doubles(vector: DuckDBVector): Float64Array {
  const { items } = vector as unknown as { items: unknown };
  if (!(items instanceof Float64Array))
    throw new Error('The DuckDB package no longer keeps DOUBLE vectors as arrays.');
  return items;
}

class Pass {
  readonly #columns: readonly string[];
  readonly #changes: readonly (Changes | undefined)[];
  readonly #blockRows: number;
  readonly #times: Float64Array;
  readonly #blocks: Float64Array[];
  readonly #facts: ColumnFacts[];
  readonly #hasOverview: boolean;
  #row = 0;
  #from = Number.POSITIVE_INFINITY;
  #to = Number.NEGATIVE_INFINITY;
  #previous = Number.NEGATIVE_INFINITY;
  #isSorted = true;
  #rowsWithoutTime = 0;

  /** @param changes of the columns that hold numbers of texts */
  constructor(
    columns: readonly string[],
    changes: readonly (Changes | undefined)[],
    blocks: number,
    blockRows: number,
  ) {
    this.#columns = columns;
    this.#changes = changes;
    this.#hasOverview = blocks > 0;
    this.#blockRows = blockRows;
    this.#times = new Float64Array(3 * blocks);
    this.#blocks = columns.map(() => new Float64Array(numbersPerBlock * blocks).fill(Number.NaN));
    this.#facts = columns.map(() => ({
      min: Number.POSITIVE_INFINITY,
      max: Number.NEGATIVE_INFINITY,
      values: 0,
      areIntegers: true,
      hasInfinity: false,
    }));
  }

  /** Adds a chunk of rows: the times and then each column, NaN where empty. */
  add(vectors: Float64Array[]): void {
    const [times, ...columns] = vectors as [Float64Array, ...Float64Array[]];
    for (const [index, values] of columns.entries()) this.#changes[index]?.add(times, values, this.#previous);
    this.#addTimes(times);
    let start = 0;
    while (start < times.length) {
      const block = Math.floor((this.#row + start) / this.#blockRows);
      const end = Math.min(times.length, (block + 1) * this.#blockRows - this.#row);
      if (this.#hasOverview) {
        if ((this.#row + start) % this.#blockRows === 0) this.#times[3 * block] = times[start] as number;
        this.#times[3 * block + 1] = times[end - 1] as number;
        this.#times[3 * block + 2] = (this.#times[3 * block + 2] as number) + (end - start);
      }
      for (const [index, values] of columns.entries()) {
        const into = this.#blocks[index] as Float64Array;
        addSegment(
          times,
          values,
          start,
          end,
          into,
          numbersPerBlock * block,
          this.#facts[index] as ColumnFacts,
        );
      }
      start = end;
    }
    this.#row += times.length;
  }

  #addTimes(times: Float64Array): void {
    let previous = this.#previous;
    for (const time of times) {
      if (Number.isNaN(time)) {
        this.#rowsWithoutTime++;
        continue;
      }
      if (time < previous) this.#isSorted = false;
      if (time < this.#from) this.#from = time;
      if (time > this.#to) this.#to = time;
      previous = time;
    }
    this.#previous = previous;
  }

  result(): Inspection {
    const isUsable = this.#hasOverview && this.#isSorted && this.#rowsWithoutTime === 0;
    const blocks = Math.ceil(this.#row / this.#blockRows);
    return {
      rowCount: this.#row,
      from: this.#from,
      to: this.#to,
      isSorted: this.#isSorted,
      rowsWithoutTime: this.#rowsWithoutTime,
      facts: new Map(this.#columns.map((column, index) => [column, this.#facts[index] as ColumnFacts])),
      overview: isUsable
        ? {
            blocks,
            blockRows: this.#blockRows,
            columns: this.#columns,
            texts: [],
            parts: [this.#times, ...this.#blocks],
          }
        : null,
    };
  }
}

/** The inner loop: rows `start` to `end` of one column, into the block that begins at `at` (when there are blocks). */
function addSegment(
  times: Float64Array,
  values: Float64Array,
  start: number,
  end: number,
  into: Float64Array,
  at: number,
  facts: ColumnFacts,
): void {
  let lowest = -1;
  let highest = -1;
  let first = -1;
  let last = -1;
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  let count = 0;
  let areIntegers = facts.areIntegers;
  for (let i = start; i < end; i++) {
    const value = values[i] as number;
    if (Number.isNaN(value)) continue;
    if (first === -1) first = i;
    last = i;
    count++;
    if (lowest === -1 || value < low) {
      low = value;
      lowest = i;
    }
    if (highest === -1 || value > high) {
      high = value;
      highest = i;
    }
    if (areIntegers && !Number.isInteger(value)) areIntegers = false;
  }
  if (count === 0) return;
  facts.values += count;
  facts.areIntegers = areIntegers;
  if (low === Number.NEGATIVE_INFINITY || high === Number.POSITIVE_INFINITY) facts.hasInfinity = true;
  if (low < facts.min) facts.min = low;
  if (high > facts.max) facts.max = high;
  if (into.length === 0) return;
  const isFirstOfBlock = Number.isNaN(into[at] as number);
  if (isFirstOfBlock || low < (into[at + 1] as number)) put(into, at, times[lowest] as number, low);
  if (isFirstOfBlock || high > (into[at + 3] as number)) put(into, at + 2, times[highest] as number, high);
  if (isFirstOfBlock) put(into, at + 4, times[first] as number, values[first] as number);
  put(into, at + 6, times[last] as number, values[last] as number);
}

function put(into: Float64Array, at: number, time: number, value: number): void {
  into[at] = time;
  into[at + 1] = value;
}
