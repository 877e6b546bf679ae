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
 * 3. texts and changes of the columns of states, see `states.ts`;
 * 4. for each column, `blocks` times: number of values, their mean, and the sum of squares of their distances from it.
 */
import { doublesOf, momentNumbers } from '../../../../domain/outputs/recording.ts';
import type { Engine } from '../engine.ts';
import { addSegment, type ColumnFacts, pointNumbers } from './block.ts';
import { booleanColumn, Changes, findStates, type StateColumn, textPart } from './states.ts';

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
  /** The moments of each column; in the file they follow all other parts. */
  moments: Float64Array[];
}

/** The channels of a recording by what they hold: generated names of columns. */
export interface ColumnKinds {
  readonly numbers: readonly string[];
  readonly truths: readonly string[];
  readonly texts: readonly string[];
}

const minBlockRows = 512;
const overviewBytes = 32 * 1024 * 1024;
/** Below this number of rows, reading the rows is fast enough. */
const overviewFromRows = 50_000;
/** Columns read together; the copies that JavaScript gets of a chunk of rows are bounded by it. */
const columnsPerPass = 200;

export async function inspect(
  engine: Engine,
  path: string,
  { numbers, truths, texts }: ColumnKinds,
  rowCount: number,
): Promise<Inspection> {
  const isLong = rowCount >= overviewFromRows;
  const states = [...truths.map(booleanColumn), ...(isLong ? await findStates(engine, path, texts) : [])];
  const all = [...numbers.map((column) => ({ column, sql: column })), ...states];
  const bytesPerBlock = all.length * (pointNumbers + momentNumbers) * Float64Array.BYTES_PER_ELEMENT;
  const blockRows = Math.max(minBlockRows, Math.ceil((rowCount * bytesPerBlock) / overviewBytes));
  const blocks = isLong && all.length > 0 ? Math.ceil(rowCount / blockRows) : 0;
  const changes = states.map(() => new Changes(states.length));
  let whole: Inspection | null = null;
  for (let from = 0; from === 0 || from < all.length; from += columnsPerPass) {
    const part = all.slice(from, from + columnsPerPass);
    const followed = part.map((_, index) => changes[from + index - numbers.length]);
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
      whole.overview?.moments.push(...(found.overview?.moments ?? []));
    }
  }
  if (whole?.overview) {
    addStates(whole.overview, numbers, states, changes);
    whole.overview.parts.push(...whole.overview.moments);
  }
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
      pass.add(values.map((_, index) => doublesOf(chunk.getColumnVector(index))));
    }
  });
}

class Pass {
  readonly #columns: readonly string[];
  readonly #changes: readonly (Changes | undefined)[];
  readonly #blockRows: number;
  readonly #times: Float64Array;
  readonly #blocks: Float64Array[];
  readonly #moments: Float64Array[];
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
    this.#blocks = columns.map(() => new Float64Array(pointNumbers * blocks).fill(Number.NaN));
    this.#moments = columns.map(() => new Float64Array(momentNumbers * blocks));
    this.#facts = columns.map(() => ({
      min: Number.POSITIVE_INFINITY,
      max: Number.NEGATIVE_INFINITY,
      values: 0,
      areIntegers: true,
      hasInfinity: false,
      moments: new Float64Array(momentNumbers),
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
        const into = {
          points: this.#blocks[index] as Float64Array,
          moments: this.#moments[index] as Float64Array,
        };
        addSegment({ times, values, start, end }, into, block, this.#facts[index] as ColumnFacts);
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
            moments: this.#moments,
          }
        : null,
    };
  }
}
