/**
 * Rows of channels of numbers and truth values, gathered into stretches of equal time while they are read. DuckDB
 * returns the rows and this code gathers them: DuckDB's eight aggregates for each channel take ten times as long.
 */
import type { DuckDBConnection, DuckDBVector } from '@duckdb/node-api';
import { PointList } from './points.ts';
import type { ReadPoints } from './protocol.ts';
import { type Channels, channelValue, type Range } from './scan.ts';

const numbersOfBucket = 8;
const [lowest, highest, first, last] = [0, 2, 4, 6] as const;

/** First, lowest, highest and last row of each of `buckets` stretches, in whatever order the rows are. */
export async function readNumberBuckets(
  connection: DuckDBConnection,
  path: string,
  channels: Channels,
  range: Range,
  buckets: number,
): Promise<ReadPoints[]> {
  const gathered = new Gathered(channels.length, range, buckets);
  const values = channels.map(
    (channel) => `coalesce(CAST(${channelValue(channel)} AS DOUBLE), 'nan'::DOUBLE)`,
  );
  const result = await connection.stream(
    `SELECT t, ${values.join(', ')} FROM read_parquet($1) WHERE t >= $2 AND t <= $3`,
    [path, range.fromMs, range.toMs],
  );
  for (;;) {
    const chunk = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) break;
    const vectors = ['t', ...values].map((_, index) => doubles(chunk.getColumnVector(index)));
    gathered.add(vectors, chunk.rowCount);
  }
  return channels.map(({ type }, index) => gathered.points(index, type === 'boolean'));
}

/** The numbers of a DOUBLE vector without nulls: a typed array, which its type declarations hide. */
function doubles(vector: DuckDBVector): Float64Array {
  const { items } = vector as unknown as { items: unknown };
  if (!(items instanceof Float64Array))
    throw new Error('The DuckDB package no longer keeps DOUBLE vectors as arrays.');
  return items;
}

class Gathered {
  readonly #fromMs: number;
  readonly #perMs: number;
  readonly #buckets: number;
  /** Time of the first row of each bucket; NaN where there is none. */
  readonly #starts: Float64Array;
  /** Of each channel and bucket time and value of lowest, highest, first, last; NaN where all rows are empty. */
  readonly #channels: readonly Float64Array[];

  constructor(channels: number, { fromMs, toMs }: Range, buckets: number) {
    const perMs = buckets / Math.max(toMs - fromMs, Number.MIN_VALUE);
    this.#fromMs = fromMs;
    this.#perMs = Number.isFinite(perMs) ? perMs : 0;
    this.#buckets = buckets;
    this.#starts = new Float64Array(buckets).fill(Number.NaN);
    this.#channels = Array.from({ length: channels }, () =>
      new Float64Array(numbersOfBucket * buckets).fill(Number.NaN),
    );
  }

  /** Adds rows: the times and then each channel, NaN where empty. */
  add([times, ...columns]: readonly Float64Array[], rows: number): void {
    if (times === undefined) return;
    const places = new Int32Array(rows);
    for (let row = 0; row < rows; row++) {
      const time = times[row] as number;
      const bucket = Math.min(Math.floor((time - this.#fromMs) * this.#perMs), this.#buckets - 1);
      places[row] = bucket;
      const start = this.#starts[bucket] as number;
      if (!(start <= time)) this.#starts[bucket] = time;
    }
    for (const [index, values] of columns.entries())
      gather(times, values, places, this.#channels[index] as Float64Array);
  }

  points(channel: number, isBoolean: boolean): ReadPoints {
    const numbers = this.#channels[channel] as Float64Array;
    const list = new PointList();
    const point = (at: number) => {
      const value = numbers[at + 1] as number;
      return { time: numbers[at] as number, value: isBoolean ? value === 1 : value };
    };
    for (let bucket = 0; bucket < this.#buckets; bucket++) {
      const start = this.#starts[bucket] as number;
      if (Number.isNaN(start)) continue;
      const at = numbersOfBucket * bucket;
      if (Number.isNaN(numbers[at] as number)) list.addGap(start);
      else list.addBucket([first, lowest, highest, last].map((pair) => point(at + pair)));
    }
    return list.points;
  }
}

/** The inner loop: the rows of one channel. */
function gather(times: Float64Array, values: Float64Array, places: Int32Array, into: Float64Array): void {
  for (let row = 0; row < places.length; row++) {
    const value = values[row] as number;
    if (Number.isNaN(value)) continue;
    const time = times[row] as number;
    const at = numbersOfBucket * (places[row] as number);
    // Each comparison with a missing value (NaN) is false.
    if (!((into[at + lowest + 1] as number) <= value)) put(into, at + lowest, time, value);
    if (!((into[at + highest + 1] as number) >= value)) put(into, at + highest, time, value);
    if (!((into[at + first] as number) <= time)) put(into, at + first, time, value);
    if (!((into[at + last] as number) > time)) put(into, at + last, time, value);
  }
}

function put(into: Float64Array, at: number, time: number, value: number): void {
  into[at] = time;
  into[at + 1] = value;
}
