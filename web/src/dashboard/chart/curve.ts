/** Converts the platform's points to numbers that can be drawn. Pure: tested without a browser. */

import type { ChannelSeries } from '../../../../client/types.ts';
import { formatValue } from '../../format.ts';
import type { Channel } from '../model.ts';
import { countBefore, nearestIndex } from '../time.ts';

/** The words of a text channel, each with its index; new words are appended, so that a word keeps its colour. */
export type Words = string[];

/** The heights of a channel's points: numbers unchanged, false and true as 0 and 1, words by their index. */
export function heights(series: ChannelSeries, words: Words): (number | null)[] {
  const places = new Map(words.map((word, place) => [word, place]));
  return series.values.map((value) => {
    if (typeof value === 'number') return Number.isFinite(value) ? value : null;
    if (typeof value === 'boolean') return value ? 1 : 0;
    if (value === null) return null;
    const known = places.get(value);
    if (known !== undefined) return known;
    places.set(value, words.length);
    return words.push(value) - 1;
  });
}

/**
 * The value at a moment: of numbers the nearest, of states and words the one that lasts there, as they are drawn. Null where
 * there is none: in a gap, which is as long as the rows without a value, and more than a row away from all rows.
 */
export function sampleAt(
  series: ChannelSeries | undefined,
  { kind, stepMs }: Channel,
  timeMs: number,
): ChannelSeries['values'][number] {
  const { times = [], values = [] } = series ?? {};
  const [first, last] = [times[0], times.at(-1)];
  if (first === undefined || last === undefined) return null;
  // A cursor stands at whole milliseconds. Rows of one moment have no width that it could be beside.
  const besideMs = first === last ? Number.POSITIVE_INFINITY : Math.max(1, stepMs);
  if (timeMs < first - besideMs || timeMs > last + besideMs) return null;
  if (kind !== 'number') {
    const begun = countBefore(times, (time) => time <= timeMs);
    return values[Math.max(0, begun - 1)] ?? null;
  }
  const index = nearestIndex(times, timeMs) ?? 0;
  // Only one row of a gap is among the points.
  const beyond = values[times[index]! < timeMs ? index + 1 : index - 1];
  return beyond === null && Math.abs(times[index]! - timeMs) > stepMs ? null : (values[index] ?? null);
}

/** The value at a moment as a person reads it; a dash where there is none. */
export function valueAt(series: ChannelSeries | undefined, channel: Channel, timeMs: number): string {
  const value = sampleAt(series, channel, timeMs);
  if (value === null) return '–';
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  return channel.kind === 'state' ? String(value !== 0) : formatValue(value);
}

/** The words of states; null for numbers. */
export function stateWords(channels: readonly Channel[], words: Words): Words | null {
  if (channels.every((channel) => channel.kind === 'state')) return ['false', 'true'];
  return channels.every((channel) => channel.kind === 'text') ? words : null;
}

/**
 * The places of values without a neighbour, to which no line leads: those of a channel with a lower rate than its file,
 * for example. A point that is `undefined` is one of another curve; the line goes on there.
 */
export function lonelyPoints(values: ArrayLike<number | null | undefined>): number[] {
  const lonely: number[] = [];
  let before: number | null = null;
  let place: number | null = null;
  for (let index = 0; index < values.length; index++) {
    const value = values[index];
    if (value === undefined) continue;
    if (value === null && place !== null) lonely.push(place);
    place = value !== null && before === null ? index : null;
    before = value;
  }
  return place === null ? lonely : [...lonely, place];
}

/**
 * The stretches without values: of each the places of the values on both sides. A point that is `undefined` is one of another
 * curve, and does not end a gap.
 */
export function gapsIn(values: ArrayLike<number | null | undefined>): [from: number, to: number][] {
  const gaps: [number, number][] = [];
  let before = 0;
  let from: number | null = null;
  for (let index = 0; index < values.length; index++) {
    const value = values[index];
    if (value === undefined) continue;
    if (value === null) {
      from ??= before;
      continue;
    }
    if (from !== null) gaps.push([from, index]);
    from = null;
    before = index;
  }
  return from === null ? gaps : [...gaps, [from, values.length - 1]];
}

interface Stretch {
  from: number;
  to: number;
  state: number;
}

/**
 * Points as stretches of one state, each to the next point. A point that is `undefined` is one of another channel, and
 * null ends a stretch.
 */
export function stretches(
  times: ArrayLike<number>,
  states: ArrayLike<number | null | undefined>,
): readonly Stretch[] {
  const found: Stretch[] = [];
  let open: Stretch | undefined;
  for (let index = 0; index < times.length; index++) {
    const state = states[index];
    const time = times[index]!;
    if (state === undefined) continue;
    if (open !== undefined) open.to = time;
    if (state === open?.state) continue;
    open = state === null ? undefined : { from: time, to: time, state };
    if (open !== undefined) found.push(open);
  }
  return found;
}
