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

/**
 * Of the points of one bucket two, where a caller asks for fewer than it holds: lowest and highest of numbers, which may
 * be one, else first and last.
 */
export function limitPoints<Points extends ReadPoints>(points: Points, maxPoints: number): Points {
  const { times, values, xs } = points;
  if (times.length <= maxPoints) return points;
  const kept = outermost(values);
  const pick = <Item>(items: readonly Item[]) => kept.map((index) => items[index] as Item);
  const picked = { times: pick(times), values: pick(values) };
  return { ...points, ...picked, ...(xs === undefined ? {} : { xs: pick(xs) }) };
}

function outermost(values: readonly SeriesValue[]): number[] {
  const numbers = values.filter((value) => typeof value === 'number');
  const [low, high] = [values.indexOf(Math.min(...numbers)), values.lastIndexOf(Math.max(...numbers))];
  if (low === -1) return [0, values.length - 1];
  return [...new Set([low, high])].sort((a, b) => a - b);
}

/** At most so many items, evenly spread, the first and the last among them. */
export function sampleEvenly<Item>(items: readonly Item[], most: number): Item[] {
  if (items.length <= most) return [...items];
  const step = (items.length - 1) / Math.max(1, most - 1);
  return Array.from({ length: most }, (_, index) => items[Math.round(index * step)] as Item);
}
