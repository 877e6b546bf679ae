/** Days of filters: they begin in the zone in which times are shown. Pure: tested without a browser. */
import { shownZone } from './format.ts';

/** The first moment of `2026-11-16`, or of the day so many `later`; undefined for what is no day. */
export function startOfDay(day: string, later = 0): string | undefined {
  const at = dayAt(day, later);
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
}

/** From the first to the last moment of days, for ranges that include their end; empty where there is no day. */
export function momentsOf(days: { from: string; to: string }): { from: string; to: string } {
  return { from: startOfDay(days.from) ?? '', to: endOfDay(days.to) ?? '' };
}

function endOfDay(day: string): string | undefined {
  const next = dayAt(day, 1);
  return Number.isNaN(next) ? undefined : new Date(next - 1).toISOString();
}

function dayAt(day: string, later: number): number {
  const [year = Number.NaN, month = Number.NaN, date = Number.NaN] = day.split('-').map(Number);
  return shownZone === 'UTC'
    ? Date.UTC(year, month - 1, date + later)
    : new Date(year, month - 1, date + later).getTime();
}

/** The first of so many days up to today; empty for none. */
export function daysUpToNow(days: string): string {
  if (days === '') return '';
  const at = inShownZone(new Date());
  at.setUTCDate(at.getUTCDate() - Number(days) + 1);
  return at.toISOString().slice(0, 10);
}

/** A date whose parts in UTC are those of `time` in the zone in which times are shown. */
export function inShownZone(time: Date): Date {
  const offset = shownZone === 'UTC' ? 0 : time.getTimezoneOffset();
  return new Date(time.getTime() - offset * 60_000);
}

/** The time of `2026-11-16T09:30` in the zone in which times are shown. */
export const timeInShownZone = (text: string) => new Date(shownZone === 'UTC' ? `${text}Z` : text);
