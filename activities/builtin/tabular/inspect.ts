/**
 * One pass over the written Parquet file: is it in the order of time, are all numbers finite, what are their ranges;
 * and the coarse level of the recording.
 *
 * The coarse level keeps, of every block of consecutive rows and every channel of numbers or truth values, four real points: lowest,
 * highest, first and last. A chart of the whole recording is drawn from these without reading the rows, and loses no
 * extreme. Its form (little-endian Float64, no header; `description.overview` tells where):
 *
 * 1. `blocks` times: first time, last time, number of rows;
 * 2. for each column, `blocks` times: time and value of lowest, highest, first, last; NaN where all rows are empty.
 */
import type { DuckDBVector } from '@duckdb/node-api';
import type { Engine } from './engine.ts';

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
  overview: { blocks: number; blockRows: number; parts: Float64Array[] } | null;
}

const smallestBlockRows = 512;
const overviewBytes = 32 * 1024 * 1024;
/** Below this the rows themselves are read fast enough. */
const overviewFromRows = 50_000;
const numbersPerBlock = 8;

/** Columns read together; the copies that JavaScript gets of a chunk of rows are bounded by it. */
const columnsPerPass = 200;

/** @param columns the numeric channels, generated names */
export async function inspect(
  engine: Engine,
  path: string,
  columns: readonly string[],
  rowCount: number,
): Promise<Inspection> {
  const bytesPerBlock = columns.length * numbersPerBlock * Float64Array.BYTES_PER_ELEMENT;
  const blockRows = Math.max(smallestBlockRows, Math.ceil((rowCount * bytesPerBlock) / overviewBytes));
  const blocks = rowCount >= overviewFromRows && columns.length > 0 ? Math.ceil(rowCount / blockRows) : 0;
  let whole: Inspection | null = null;
  for (let from = 0; from === 0 || from < columns.length; from += columnsPerPass) {
    const pass = new Pass(columns.slice(from, from + columnsPerPass), blocks, blockRows);
    await run(engine, path, pass);
    const part = pass.result();
    if (whole === null) whole = part;
    else {
      for (const [column, facts] of part.facts) whole.facts.set(column, facts);
      whole.overview?.parts.push(...(part.overview?.parts.slice(1) ?? []));
    }
  }
  return whole as Inspection;
}

async function run(engine: Engine, path: string, pass: Pass): Promise<void> {
  const values = ['t', ...pass.columns].map((column) => `coalesce(CAST(${column} AS DOUBLE), 'nan'::DOUBLE)`);
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

  constructor(columns: readonly string[], blocks: number, blockRows: number) {
    this.#columns = columns;
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

  get columns(): readonly string[] {
    return this.#columns;
  }

  /** Takes a chunk of rows: the times and then each column, NaN where empty. */
  add(vectors: Float64Array[]): void {
    const [times, ...columns] = vectors as [Float64Array, ...Float64Array[]];
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
        ? { blocks, blockRows: this.#blockRows, parts: [this.#times, ...this.#blocks] }
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
