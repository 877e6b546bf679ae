/** What the conversion of tables and the reader of series agree on. */
import { limits } from '../limits.ts';

export const channelTypes = ['number', 'integer', 'boolean', 'text'] as const;
export type ChannelType = (typeof channelTypes)[number];

/**
 * Times of a recording, in milliseconds since 1970 or since its beginning, have a year of four digits, as ISO 8601 is
 * written: measurements are also of years before 1970, and times before a trigger are negative.
 */
export const recordingTimes = {
  fromMs: Date.parse('0001-01-01T00:00:00Z'),
  beforeMs: Date.UTC(limits.latestYear + 1, 0),
} as const;

export function isRecordingTime(ms: number): boolean {
  return ms >= recordingTimes.fromMs && ms < recordingTimes.beforeMs;
}

/** The numbers of a block of the coarse level: count, mean, and sum of squared distances from the mean. */
export const momentNumbers = 3;

/** Adds the moments of further values to those at a place. */
export function addMoments(
  into: Float64Array,
  at: number,
  count: number,
  mean: number,
  squares: number,
): void {
  const before = into[at] as number;
  const all = before + count;
  const distance = mean - (into[at + 1] as number);
  into[at] = all;
  into[at + 1] = (into[at + 1] as number) + (distance * count) / all;
  into[at + 2] = (into[at + 2] as number) + squares + (distance * distance * before * count) / all;
}

/**
 * The numbers of a vector of DuckDB's type DOUBLE without nulls. The vector keeps them in a typed array, which its type
 * declarations hide; reading it value by value through `getItem` is ten times slower.
 */
export function doublesOf(vector: object): Float64Array {
  const { items } = vector as { readonly items?: unknown };
  if (!(items instanceof Float64Array))
    throw new Error('The DuckDB package no longer keeps DOUBLE vectors as arrays.');
  return items;
}
