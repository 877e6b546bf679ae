/** Times on the axis and beside it. Pure: tested without a browser. */

import type { Dashboard } from '../../../client/types.ts';
import { formatValue } from '../format.ts';
import type { Clock } from './address.ts';
import { formatElapsed } from './figure-texts.ts';
import type { TimeSpan } from './model.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Steps of an elapsed axis in milliseconds: the usual units of time. */
export const elapsedStepsMs = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((count) => count * second),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 3, 6, 12].map((count) => count * hour),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].map((count) => count * day),
];

/** Steps of an axis of row numbers. */
export const rowSteps = Array.from({ length: 12 }, (_, power) =>
  [1, 2, 5].map((step) => step * 10 ** power),
).flat();

/** Whether all sources with relative times have none: their rows are numbered. */
export function hasRowNumbers(dashboard: Dashboard): boolean {
  const relative = dashboard.sources.filter(({ time }) => time.kind === 'relative');
  return relative.length > 0 && relative.every(({ time }) => time.basis === 'row-number');
}

/** The milliseconds of a time as text; one without a zone is UTC, as everywhere in the platform. NaN for no time. */
export function parseMoment(text: string): number {
  const trimmed = text.trim().replace(/^(\d{4}-\d\d-\d\d) /, '$1T');
  const isBare = /^\d{4}-\d\d-\d\dT[\d:.]+$/.test(trimmed);
  return Date.parse(isBare ? `${trimmed}Z` : trimmed);
}

/** One moment, as fine as rows `stepMs` apart need. `originMs` is the start of elapsed time. */
export function formatMoment(timeMs: number, clock: Clock, originMs: number, stepMs: number): string {
  if (clock === 'elapsed') return formatElapsed(timeMs - originMs, stepMs);
  if (clock === 'rows') return `row ${formatValue(Math.round(timeMs))}`;
  const date = new Date(timeMs);
  if (Number.isNaN(date.getTime())) return '';
  const parts = clockParts(date, clock);
  const millis = stepMs >= second ? '' : `.${parts.millis}`;
  return `${parts.date} ${parts.time}${millis}`;
}

/** `14 Mar 2026 09:30:00 to 10:15:00 UTC`. */
export function formatSpan(span: TimeSpan, clock: Clock, originMs: number): string {
  const stepMs = span.toMs - span.fromMs > 20 * minute ? second : 1;
  const from = formatMoment(span.fromMs, clock, originMs, stepMs);
  const to = formatMoment(span.toMs, clock, originMs, stepMs);
  if (clock === 'elapsed' || clock === 'rows') return `${from} to ${to}`;
  const lastDay = dayOf(span.toMs, clock);
  const end = lastDay === dayOf(span.fromMs, clock) ? to.slice(lastDay.length + 1) : to;
  return `${from} to ${end}${clock === 'utc' ? ' UTC' : ''}`;
}

/** `14 Mar 2026`. */
export function dayOf(timeMs: number, clock: Clock): string {
  return clockParts(new Date(timeMs), clock).date;
}

export const monthNames = [
  'Jan',
  'Feb',
  'Mar',
  'Apr',
  'May',
  'Jun',
  'Jul',
  'Aug',
  'Sep',
  'Oct',
  'Nov',
  'Dec',
];

function clockParts(date: Date, clock: Clock): { date: string; time: string; millis: string } {
  const local = clock === 'local';
  const pad = (value: number, length = 2) => String(value).padStart(length, '0');
  const [year, month, dayOfMonth] = local
    ? [date.getFullYear(), date.getMonth(), date.getDate()]
    : [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  const [hours, minutes, seconds] = local
    ? [date.getHours(), date.getMinutes(), date.getSeconds()]
    : [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()];
  return {
    date: `${dayOfMonth} ${monthNames[month]} ${year}`,
    time: `${pad(hours)}:${pad(minutes)}:${pad(seconds)}`,
    millis: pad(date.getUTCMilliseconds(), 3),
  };
}

/** The shortest span that can be zoomed to. */
const minSpanMs = 4;

/** `span` moved and cut so that it lies within `full`; whole milliseconds, and never shorter than the shortest span. */
export function clampSpan(span: TimeSpan, full: TimeSpan): TimeSpan {
  const fullLength = full.toMs - full.fromMs;
  const length = Math.min(fullLength, Math.max(minSpanMs, span.toMs - span.fromMs));
  const middle = (span.fromMs + span.toMs) / 2;
  const from = Math.min(Math.max(middle - length / 2, full.fromMs), full.toMs - length);
  return { fromMs: Math.round(from), toMs: Math.round(from + length) };
}

/** The span around `atMs` that is `factor` times as long; `atMs` keeps its place in the picture. */
export function zoomSpan(span: TimeSpan, factor: number, atMs: number, full: TimeSpan): TimeSpan {
  const fromMs = atMs - (atMs - span.fromMs) * factor;
  return clampSpan({ fromMs, toMs: fromMs + (span.toMs - span.fromMs) * factor }, full);
}

/** The span moved by a part of its own length. */
export function panSpan(span: TimeSpan, part: number, full: TimeSpan): TimeSpan {
  const by = (span.toMs - span.fromMs) * part;
  return clampSpan({ fromMs: span.fromMs + by, toMs: span.toMs + by }, full);
}

/** How many of ascending `times` come before the first that is not before the wanted place. */
export function countBefore(times: readonly number[], isBefore: (time: number) => boolean): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(times[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Position of the sample nearest to `timeMs` among ascending `times`, or null when there is none. */
export function nearestIndex(times: readonly number[], timeMs: number): number | null {
  if (times.length === 0) return null;
  const next = Math.min(
    countBefore(times, (time) => time < timeMs),
    times.length - 1,
  );
  const before = times[next - 1];
  return before !== undefined && timeMs - before < times[next]! - timeMs ? next - 1 : next;
}
