/** Timestamps as callers send them: ISO 8601 with any offset, read strictly (decisions 2). */
import { limits } from './limits.ts';

const shape =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:([Zz])|([+-])(\d{2})(?::?(\d{2}))?)?)?$/;

/** `Date.UTC` counts the years before 100 from 1900. */
function utc(year: number, month: number, day: number): Date {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date;
}

const daysInMonth = (year: number, month: number) => utc(year, month + 1, 0).getUTCDate();

/**
 * Reads a date or date-time; without an offset it is UTC, a date alone is its midnight. Returns null for anything
 * else: days that do not exist, years outside 1970 to 9999, bare numbers, 24:00, leap seconds. Digits below the
 * millisecond are cut off.
 */
export const parseTimestamp = (text: string) => parse(text, limits.earliestYear);

/**
 * Reads a time in a recording: as above, from the year 1 on. Measurements may be of earlier years than 1970, and a time
 * before the zero of a recording without dates (before its trigger) is written as one before 1970.
 */
export const parseRecordingTime = (text: string) => parse(text, 1);

function parse(text: string, earliestYear: number): Date | null {
  const match = shape.exec(text);
  if (match === null) return null;
  const number = (index: number) => Number(match[index] ?? '0');
  const [year, month, day] = [number(1), number(2), number(3)];
  const [hour, minute, second] = [number(4), number(5), number(6)];
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return null;
  if (hour > 23 || minute > 59 || second > 59) return null;
  const [offsetHours, offsetMinutes] = [number(10), number(11)];
  if (offsetHours > 23 || offsetMinutes > 59) return null;
  const milliseconds = Number((match[7] ?? '').slice(0, 3).padEnd(3, '0'));
  const offset = (match[9] === '-' ? -1 : 1) * (offsetHours * 60 + offsetMinutes) * 60_000;
  const clock = ((hour * 60 + minute) * 60 + second) * 1000 + milliseconds;
  const result = new Date(utc(year, month, day).getTime() + clock - offset);
  const resultYear = result.getUTCFullYear();
  return year >= earliestYear && resultYear >= earliestYear && resultYear <= limits.latestYear
    ? result
    : null;
}

/** True for `YYYY-MM-DD` alone, which some parameters read as the whole day. */
export function isDateOnly(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && parseTimestamp(text) !== null;
}

/** The wire form: UTC, milliseconds, `Z`. */
export function formatTimestamp(value: Date): string {
  return value.toISOString();
}

/** The same for a time that may be missing. */
export function formatTimestampOrNull(value: Date | null): string | null {
  return value === null ? null : formatTimestamp(value);
}
