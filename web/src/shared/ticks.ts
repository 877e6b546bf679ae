/** The times of the axis of shared sessions, in the zone in which times are shown. Pure: tested without a browser. */
import type { TimeSpan } from '../dashboard/model.ts';
import { formatSpan, monthNames } from '../dashboard/time.ts';
import { inShownZone } from '../days.ts';
import { shownZone } from '../format.ts';

const stepsMs = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * 1000),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * 60_000),
  ...[1, 2, 3, 6, 12].map((count) => count * 3_600_000),
  ...[1, 2, 7, 14, 30, 90, 180, 365].map((count) => count * 86_400_000),
];

/** Round moments within the span, at most `most` of them, and the step between them. Days begin in the shown zone. */
export function ticksOf(span: TimeSpan, most: number): { stepMs: number; times: number[] } {
  const length = span.toMs - span.fromMs;
  const stepMs = stepsMs.find((step) => length / step <= most) ?? length;
  const times: number[] = [];
  const first = Math.ceil(wallOf(span.fromMs) / stepMs) * stepMs;
  for (let wall = first; wall <= wallOf(span.toMs); wall += stepMs) times.push(momentOf(wall));
  return { stepMs, times };
}

/** The clock on the wall, as if it showed UTC. */
const wallOf = (timeMs: number) => inShownZone(new Date(timeMs)).getTime();

/** The moment at which the clock on the wall shows this. */
function momentOf(wall: number): number {
  if (shownZone === 'UTC') return wall;
  const at = new Date(wall);
  const day = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()] as const;
  return new Date(...day, at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()).getTime();
}

const pad = (value: number) => String(value).padStart(2, '0');

/** A tick as short as its step allows: a day, hours and minutes, or seconds. */
export function tickLabel(timeMs: number, stepMs: number): string {
  const date = inShownZone(new Date(timeMs));
  const day = `${date.getUTCDate()} ${monthNames[date.getUTCMonth()]}`;
  if (stepMs >= 86_400_000) return stepMs >= 30 * 86_400_000 ? `${day} ${date.getUTCFullYear()}` : day;
  const clock = `${pad(date.getUTCHours())}:${pad(date.getUTCMinutes())}`;
  if (clock === '00:00' && stepMs >= 60_000) return day;
  return stepMs >= 60_000 ? clock : `${clock}:${pad(date.getUTCSeconds())}`;
}

/** `14 Mar 2026 09:30:00 to 10:15:00 UTC`; the zone of the machine is not named, as nowhere in the console. */
export const spanText = (span: TimeSpan) => formatSpan(span, shownZone === 'UTC' ? 'utc' : 'local', 0);

/** `14 Mar 2026 09:30:00 UTC`. */
export function momentText(timeMs: number): string {
  const [from] = spanText({ fromMs: timeMs, toMs: timeMs + 1_800_000 }).split(' to ');
  return shownZone === 'UTC' ? `${from} UTC` : from!;
}
