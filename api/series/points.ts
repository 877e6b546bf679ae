/**
 * The points that represent the rows of a stretch of time (a bucket): first, lowest, highest and last, each a real row,
 * so that a line drawn through them reaches every extreme and joins the next bucket where the recording does.
 */
import type { ReadPoints } from './protocol.ts';
import type { SeriesValue } from './recording.ts';

export const pointsPerBucket = 4;

interface Point {
  time: number;
  value: SeriesValue;
  /** The value of the channel that it is drawn over, if there is one. */
  x?: number | undefined;
}

/** Gathers points bucket by bucket. */
export class PointList {
  readonly times: number[] = [];
  readonly values: SeriesValue[] = [];
  /** Empty where points are drawn over time. */
  readonly #xs: number[] = [];

  /** Adds up to four points of one bucket in the order of time, each once. */
  addBucket(points: Point[]): void {
    points.sort((a, b) => a.time - b.time);
    const seen: Point[] = [];
    for (const point of points) {
      if (seen.some(({ time, value }) => time === point.time && value === point.value)) continue;
      seen.push(point);
      this.add(point);
    }
  }

  /** A stretch that has rows and no value: one empty point breaks the line. */
  addGap(time: number, x?: number): void {
    if (this.values.at(-1) !== null) this.add({ time, value: null, x });
  }

  add({ time, value, x }: Point): void {
    this.times.push(time);
    this.values.push(value);
    if (x !== undefined) this.#xs.push(x);
  }

  append(other: ReadPoints): void {
    for (const [index, time] of other.times.entries()) {
      this.times.push(time);
      this.values.push(other.values[index] ?? null);
    }
  }

  get points(): ReadPoints {
    const { times, values } = this;
    return this.#xs.length === 0 ? { times, values } : { times, values, xs: this.#xs };
  }
}
