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
}

/** Gathers points bucket by bucket. */
export class PointList {
  readonly times: number[] = [];
  readonly values: SeriesValue[] = [];

  /** Adds up to four points of one bucket in the order of time, each once. */
  addBucket(points: Point[]): void {
    points.sort((a, b) => a.time - b.time);
    const seen: Point[] = [];
    for (const point of points) {
      if (seen.some(({ time, value }) => time === point.time && value === point.value)) continue;
      seen.push(point);
      this.times.push(point.time);
      this.values.push(point.value);
    }
  }

  /** A stretch that has rows and no value: one empty point breaks the line. */
  addGap(time: number): void {
    if (this.values.at(-1) === null) return;
    this.times.push(time);
    this.values.push(null);
  }

  append(other: ReadPoints): void {
    for (const [index, time] of other.times.entries()) {
      this.times.push(time);
      this.values.push(other.values[index] ?? null);
    }
  }

  get points(): ReadPoints {
    return { times: this.times, values: this.values };
  }
}
