/**
 * Rows of channels of numbers and truth values, gathered into stretches of equal time while they are read. DuckDB
 * returns the rows and this code gathers them: DuckDB's eight aggregates for each channel take ten times as long.
 */
import { PointList } from './points.ts';
import type { ReadPoints } from './protocol.ts';
import { type Channels, channelValue, type Range, type RecordingFile, streamNumbers } from './scan.ts';

const pointsOfBucket = 4;
const [lowest, highest, first, last] = [0, 1, 2, 3] as const;

/** First, lowest, highest and last row of each of `buckets` stretches, in whatever order the rows are. */
export async function readNumberBuckets(
  file: RecordingFile,
  channels: Channels,
  range: Range,
  buckets: number,
): Promise<ReadPoints[]> {
  const gathered = new BucketPoints(channels.length, range, buckets);
  await streamNumbers(file, channels.map(channelValue), range, ([times, ...columns], rows) => {
    if (times !== undefined) gathered.add(times, columns, rows);
  });
  return channels.map(({ type }, index) => gathered.points(index, type === 'boolean'));
}

/** Rows over time, or over another channel. */
export class BucketPoints {
  readonly #from: number;
  readonly #perUnit: number;
  readonly #buckets: number;
  /** Numbers of a point: time, value, and where it is drawn over another channel, the value of that. */
  readonly #stride: 2 | 3;
  /** Time of the first row of each bucket; NaN where there is none. */
  readonly #starts: Float64Array;
  /** Each channel's lowest, highest, first and last points of each bucket; NaN where all rows are empty. */
  readonly #channels: readonly Float64Array[];

  /** @param range of times, or of the values of the channel that points are drawn over */
  constructor(channels: number, { fromMs, toMs }: Range, buckets: number, over: 'time' | 'channel' = 'time') {
    const perUnit = buckets / Math.max(toMs - fromMs, Number.MIN_VALUE);
    this.#from = fromMs;
    this.#perUnit = Number.isFinite(perUnit) ? perUnit : 0;
    this.#buckets = buckets;
    this.#stride = over === 'time' ? 2 : 3;
    this.#starts = new Float64Array(buckets).fill(Number.NaN);
    this.#channels = Array.from({ length: channels }, () =>
      new Float64Array(pointsOfBucket * this.#stride * buckets).fill(Number.NaN),
    );
  }

  /** Adds rows: their times and each channel, NaN where empty; `xs` where they are drawn over a channel. */
  add(times: Float64Array, columns: readonly Float64Array[], rows: number, xs?: Float64Array): void {
    const places = new Int32Array(rows);
    for (let row = 0; row < rows; row++) {
      const time = times[row] as number;
      const position = xs === undefined ? time : (xs[row] as number);
      const bucket = Math.min(Math.floor((position - this.#from) * this.#perUnit), this.#buckets - 1);
      places[row] = bucket;
      const start = this.#starts[bucket] as number;
      if (!(start <= time)) this.#starts[bucket] = time;
    }
    for (const [index, values] of columns.entries())
      gather(times, values, places, this.#channels[index] as Float64Array, this.#stride, xs);
  }

  points(channel: number, isBoolean: boolean): ReadPoints {
    const numbers = this.#channels[channel] as Float64Array;
    const stride = this.#stride;
    const list = new PointList();
    const point = (at: number) => {
      const value = numbers[at + 1] as number;
      const x = stride === 3 ? { x: numbers[at + 2] as number } : {};
      return { time: numbers[at] as number, value: isBoolean ? value === 1 : value, ...x };
    };
    for (let bucket = 0; bucket < this.#buckets; bucket++) {
      const start = this.#starts[bucket] as number;
      if (Number.isNaN(start)) continue;
      const at = pointsOfBucket * stride * bucket;
      if (!Number.isNaN(numbers[at]))
        list.addBucket([first, lowest, highest, last].map((place) => point(at + stride * place)));
      else if (stride === 2) list.addGap(start);
      else list.addGap(start, this.#from + bucket / (this.#perUnit || 1));
    }
    return list.points;
  }
}

/** The inner loop: the rows of one channel. */
function gather(
  times: Float64Array,
  values: Float64Array,
  places: Int32Array,
  into: Float64Array,
  stride: number,
  xs: Float64Array | undefined,
): void {
  const size = pointsOfBucket * stride;
  for (let row = 0; row < places.length; row++) {
    const value = values[row] as number;
    if (Number.isNaN(value)) continue;
    const time = times[row] as number;
    const at = size * (places[row] as number);
    const x = xs?.[row];
    // Each comparison with a missing value (NaN) is false.
    if (!((into[at + stride * lowest + 1] as number) <= value))
      put(into, at + stride * lowest, time, value, x);
    if (!((into[at + stride * highest + 1] as number) >= value))
      put(into, at + stride * highest, time, value, x);
    if (!((into[at + stride * first] as number) <= time)) put(into, at + stride * first, time, value, x);
    if (!((into[at + stride * last] as number) > time)) put(into, at + stride * last, time, value, x);
  }
}

function put(into: Float64Array, at: number, time: number, value: number, x: number | undefined): void {
  into[at] = time;
  into[at + 1] = value;
  if (x !== undefined) into[at + 2] = x;
}
