/** Results of expressions as cells of a report. */
import { Optional } from '@marcbachmann/cel-js';
import { Duration, UnsignedInt } from '@marcbachmann/cel-js/evaluator';
import { limits } from '../limits.ts';
import { formatTimestamp, parseTimestamp } from '../timestamp.ts';
import { durationText } from './expression-conversions.ts';
import type { Cell, ColumnType } from './report.ts';

/** Between the first and the last time that the platform knows. */
const maxSeconds = (Date.UTC(limits.latestYear + 1, 0) - Date.UTC(limits.earliestYear, 0)) / 1000;

/** A result without the classes of the language that hold one value: optional values, unsigned integers, bytes (base64). */
function plain(result: unknown): unknown {
  if (result instanceof Optional) return plain(result.orValue(undefined));
  if (result instanceof UnsignedInt) return result.value;
  return result instanceof Uint8Array ? Buffer.from(result).toString('base64') : result;
}

/** Whether a filter's expression equals its value, by the JSON type of the value. */
export function equalsValue(computed: unknown, value: string | number | boolean | null): boolean {
  const result = plain(computed);
  if (value === null) return result === undefined || result === null;
  if (typeof value === 'number')
    return (typeof result === 'bigint' || typeof result === 'number') && Number(result) === value;
  if (typeof value === 'boolean') return result === value;
  return result !== undefined && result !== null && textOf(result) === value;
}

const empty: Cell = { type: 'empty' };

/** A result as the cell of its column; what does not fit the column's type is text. */
export function cellOf(computed: unknown, type: ColumnType): Cell {
  const result = plain(computed);
  if (result === undefined || result === null || result === '') return empty;
  const fitting = fit(result, type);
  if (fitting !== undefined) return fitting;
  const value = textOf(result);
  return value === '' ? empty : { type: 'string', value };
}

function fit(result: unknown, type: ColumnType): Cell | undefined {
  switch (type) {
    case 'number': {
      const value = typeof result === 'string' && result.trim() === '' ? Number.NaN : Number(result);
      const isNumber = typeof result === 'bigint' || typeof result === 'number' || typeof result === 'string';
      return isNumber && Number.isFinite(value) ? { type, value } : undefined;
    }
    case 'boolean':
      return typeof result === 'boolean' ? { type, value: result } : undefined;
    case 'date': {
      const value = dateOf(result);
      return value === undefined ? undefined : { type, value };
    }
    case 'duration': {
      const value = secondsOf(result);
      return value === undefined ? undefined : { type, value };
    }
    case 'string':
      return undefined;
  }
}

/** The date that a text or a time of the language is, within the same years. */
function dateOf(result: unknown): Date | undefined {
  if (typeof result === 'string') return parseTimestamp(result) ?? undefined;
  if (!(result instanceof Date)) return undefined;
  const year = result.getUTCFullYear();
  return year >= limits.earliestYear && year <= limits.latestYear ? result : undefined;
}

function secondsOf(result: unknown): number | undefined {
  if (typeof result !== 'bigint' && typeof result !== 'number' && !(result instanceof Duration))
    return undefined;
  const seconds = result instanceof Duration ? Number(result.seconds) + result.nanos / 1e9 : Number(result);
  return Math.abs(seconds) <= maxSeconds ? seconds : undefined;
}

function textOf(result: unknown): string {
  // A time that is too far away for its class is none.
  if (result instanceof Date) return Number.isNaN(result.getTime()) ? '' : formatTimestamp(result);
  if (typeof result !== 'object' || result === null) return String(result);
  if (result instanceof Duration) return durationText(result);
  return JSON.stringify(result, function (this: Record<string, unknown>, name) {
    const value = plain(this[name]);
    if (value instanceof Duration || value instanceof Date) return textOf(value);
    return typeof value === 'bigint' ? Number(value) : value;
  });
}
