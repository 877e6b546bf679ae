/**
 * Rows of several channels, thinned together: every channel has points of the same rows, so that one can be drawn over
 * another. Of each stretch of equal time: the first and the last row, and the lowest and the highest row of each channel.
 */
import { sampleEvenly } from './points.ts';
import type { ReadPoints } from './protocol.ts';
import type { Range } from './scan.ts';

/** The numbers that a kept row has before its values. */
const [numberAt, timeAt, valuesAt] = [0, 1, 2] as const;

export class SameRows {
  readonly #range: Range;
  readonly #channels: number;
  readonly #maxPoints: number;
  readonly #buckets: number;
  /** By bucket and place: first, last, then lowest and highest of each channel. A missing row has no number. */
  readonly #kept: Float64Array;
  readonly #width: number;
  readonly #places: number;
  /** There are so few rows that each is kept. */
  readonly #isWhole: boolean;
  #added = 0;

  /** @param rows that will be added */
  constructor(channels: number, range: Range, { rows, maxPoints }: { rows: number; maxPoints: number }) {
    this.#range = range;
    this.#channels = channels;
    this.#maxPoints = maxPoints;
    this.#width = valuesAt + channels;
    this.#places = 2 + 2 * channels;
    this.#buckets = Math.max(1, Math.floor(maxPoints / this.#places));
    this.#isWhole = rows <= maxPoints;
    const most = this.#isWhole ? rows : this.#buckets * this.#places;
    this.#kept = new Float64Array(most * this.#width).fill(Number.NaN);
  }

  /** Adds rows with their numbers in the file; values are NaN where empty. */
  add(numbers: Float64Array, times: Float64Array, columns: readonly Float64Array[]): void {
    const rows = { numbers, times, columns };
    if (this.#isWhole) {
      for (const row of times.keys()) this.#put(this.#added++ * this.#width, row, rows);
      return;
    }
    for (let start = 0; start < times.length; ) {
      const bucket = this.#bucketOf(times[start] as number);
      let end = start + 1;
      while (end < times.length && this.#bucketOf(times[end] as number) === bucket) end++;
      this.#addRun(bucket, start, end, rows);
      start = end;
    }
  }

  #bucketOf(time: number): number {
    const { fromMs, toMs } = this.#range;
    const place = Math.floor(((time - fromMs) / Math.max(toMs - fromMs, Number.MIN_VALUE)) * this.#buckets);
    return Math.max(0, Math.min(place, this.#buckets - 1));
  }

  /** Rows that follow one another in one bucket. */
  #addRun(bucket: number, start: number, end: number, rows: Rows): void {
    let [first, last] = [end, -1];
    for (const [channel, values] of rows.columns.entries()) {
      let [low, high] = [-1, -1];
      for (let row = start; row < end; row++) {
        const value = values[row] as number;
        if (Number.isNaN(value)) continue;
        if (low === -1 || value < (values[low] as number)) low = row;
        if (high === -1 || value > (values[high] as number)) high = row;
        if (row < first) first = row;
        if (row > last) last = row;
      }
      if (low === -1) continue;
      const [lowest, highest] = [2 + 2 * channel, 3 + 2 * channel].map((place) => this.#at(bucket, place));
      const of = valuesAt + channel;
      // Each comparison with a missing value (NaN) is false.
      if (!((this.#kept[lowest! + of] as number) <= (values[low] as number))) this.#put(lowest!, low, rows);
      if (!((this.#kept[highest! + of] as number) >= (values[high] as number)))
        this.#put(highest!, high, rows);
    }
    const isEmpty = last === -1;
    const [firstAt, lastAt] = [this.#at(bucket, 0), this.#at(bucket, 1)];
    // A row without any value stands only for a stretch without any: it breaks the line.
    if (Number.isNaN(this.#kept[lastAt]) && (!isEmpty || Number.isNaN(this.#kept[firstAt])))
      this.#put(firstAt, isEmpty ? start : first, rows);
    if (!isEmpty) this.#put(lastAt, last, rows);
  }

  #at(bucket: number, place: number): number {
    return (bucket * this.#places + place) * this.#width;
  }

  #put(at: number, row: number, { numbers, times, columns }: Rows): void {
    this.#kept[at + numberAt] = numbers[row] as number;
    this.#kept[at + timeAt] = times[row] as number;
    for (const [channel, values] of columns.entries())
      this.#kept[at + valuesAt + channel] = values[row] as number;
  }

  /** The same rows for each channel, in the order of time. */
  points(isBoolean: (channel: number) => boolean): ReadPoints[] {
    const byNumber = new Map<number, number>();
    for (let at = 0; at < this.#kept.length; at += this.#width) {
      const number = this.#kept[at + numberAt] as number;
      if (!Number.isNaN(number)) byNumber.set(number, at);
    }
    const time = (at: number) => this.#kept[at + timeAt] as number;
    const sorted = [...byNumber]
      .sort(([a, atA], [b, atB]) => time(atA) - time(atB) || a - b)
      .map(([, at]) => at);
    const rows = sampleEvenly(sorted, this.#maxPoints);
    const times = rows.map(time);
    return Array.from({ length: this.#channels }, (_, channel) => ({
      times,
      values: rows.map((at) => {
        const value = this.#kept[at + valuesAt + channel] as number;
        if (Number.isNaN(value)) return null;
        return isBoolean(channel) ? value === 1 : value;
      }),
    }));
  }
}

interface Rows {
  readonly numbers: Float64Array;
  readonly times: Float64Array;
  readonly columns: readonly Float64Array[];
}
