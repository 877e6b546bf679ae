/** The content of a time column: texts of one form, durations, numbers since 1970 or since another start, years. */
import { listValue } from '@duckdb/node-api';
import type { TabularConfiguration } from '../configuration.ts';
import type { Engine } from '../engine.ts';
import type { SourceColumn } from '../read/source.ts';
import { areDurations } from '../text/duration-text.ts';
import { readHeading, readUnit } from '../text/heading.ts';
import { isNumberText, toNumber } from '../text/text-values.ts';
import { unitMilliseconds } from '../text/time-units.ts';
import { timeFormats } from './time-formats.ts';

export type Content =
  | { form: 'text'; format: string | null; isAmbiguous: boolean }
  | { form: 'native' }
  | { form: 'duration'; readAs: 'INTERVAL' | 'MILLISECONDS' }
  /** Days since `epochDay`, which is counted from 1970, as spreadsheets and MATLAB keep dates. */
  | { form: 'days'; epochDay: number }
  | { form: 'epoch'; millisecondsEach: number }
  | { form: 'offset'; millisecondsEach: number }
  | { form: 'year' };

const yearName = /^(?:year|jahr|yr)$/i;
/** Null when the column holds no times of one form. `isChosen`: the configuration names the column. */
export async function contentOf(
  engine: Engine,
  column: SourceColumn,
  decimalComma: boolean,
  configuration: TabularConfiguration,
  isChosen: boolean,
): Promise<Content | null> {
  const values = column.sample.filter((value): value is string => value !== null && value.trim() !== '');
  if (values.length === 0) return null;
  if (column.kind === 'time') return { form: 'native' };
  const isNumeric = values.every((value) => isNumberText(value, decimalComma));
  if (isNumeric) return numericContent(column, values, decimalComma, configuration, isChosen);
  if (column.kind !== 'text') return null;
  if (values.every((value) => /^\s*-?\d{1,6}:[0-5]\d:[0-5]\d(?:[.,]\d{1,9})?\s*$/.test(value)))
    return { form: 'duration', readAs: 'INTERVAL' };
  if (areDurations(values, headingOf(column).unit)) return { form: 'duration', readAs: 'MILLISECONDS' };
  return textContent(engine, values);
}

/** The time of the day in a text, with its zone. */
const clock = /\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s*[+-]\d{2}:?\d{2})?/;

/** Tries all forms of dates on the sample, within DuckDB, because DuckDB reads the whole file later. */
async function textContent(engine: Engine, values: string[]): Promise<Content | null> {
  const step = Math.max(1, Math.floor(values.length / 1000));
  const probe = values.filter((_, index) => index % step === 0);
  const tries = timeFormats.map((_, index) => `count(try_strptime(v, $2[${index + 1}]))`);
  const [row] = await engine.rows({
    sql: `SELECT count(*), count(try_cast(v AS TIMESTAMPTZ)), ${tries.join(', ')} FROM (SELECT unnest($1) AS v)`,
    parameters: [listValue(probe), listValue([...timeFormats])],
  });
  const counts = (row ?? []).map(Number);
  const all = counts[0] ?? 0;
  if (all === 0) return null;
  // A year of two digits would be one of the first century, by the cast and by `%Y`.
  const haveFullYears = values.every((value) => /\d{4}/.test(value.replace(clock, ' ')));
  if (counts[1] === all && haveFullYears) return { form: 'text', format: null, isAmbiguous: false };
  const fits = timeFormats.filter(
    (format, index) => counts[index + 2] === all && (haveFullYears || !format.includes('%Y')),
  );
  const format = fits[0];
  if (format === undefined) return null;
  const swapped = format.replace('%m/%d', '%d/%m').replace('%d-%m', '%m-%d');
  return { form: 'text', format, isAmbiguous: swapped !== format && fits.includes(swapped) };
}

/** Epoch times from 1990 to 2100, by the size of their numbers. */
const epochs = [
  { millisecondsEach: 1000, from: 6.3e8, to: 4.2e9 },
  { millisecondsEach: 1, from: 6.3e11, to: 4.2e12 },
  { millisecondsEach: 1e-3, from: 6.3e14, to: 4.2e15 },
  { millisecondsEach: 1e-6, from: 6.3e17, to: 4.2e18 },
];

/** Numbers of days from 1990 to 2100, of spreadsheets and of MATLAB. */
const serials = [
  { epochDay: -25_569, from: 32_874, to: 73_051 },
  { epochDay: -719_529, from: 726_834, to: 767_011 },
];
const dateName = /date|datum|fecha/i;

function numericContent(
  column: SourceColumn,
  values: string[],
  decimalComma: boolean,
  configuration: TabularConfiguration,
  isChosen: boolean,
): Content | null {
  const numbers = values.map((value) => toNumber(value, decimalComma));
  const { name, unit } = headingOf(column);
  const isNamed = isChosen || yearName.test(name);
  const areYears = numbers.every((value) => Number.isInteger(value) && value >= 1000 && value < 3000);
  if (areYears && isNamed && yearName.test(name)) return { form: 'year' };
  const isMs = configuration.timeColumnIsMs ?? null;
  const unitMs =
    (unit === null ? null : unitMilliseconds(unit)) ?? unitMilliseconds(unitInName.exec(name)?.[1] ?? '');
  if (isMs === null && (isChosen || dayName.test(name)) && values.every(isDay))
    return { form: 'text', format: '%Y%m%d', isAmbiguous: false };
  if (isMs === null && values.every(isMoment))
    return { form: 'text', format: '%Y%m%d%H%M%S', isAmbiguous: false };
  const epoch = epochs.find(({ from, to, millisecondsEach }) => {
    if (isMs !== null && millisecondsEach !== (isMs ? 1 : 1000)) return false;
    // `time [us]` from 700000000 on began eleven minutes before, and not in 1992.
    if (unitMs !== null && millisecondsEach > unitMs) return false;
    return numbers.every((value) => value >= from && value < to);
  });
  if (epoch !== undefined) return { form: 'epoch', millisecondsEach: epoch.millisecondsEach };
  if (isMs !== null) return { form: 'offset', millisecondsEach: isMs ? 1 : 1000 };
  const serial = serials.find(({ from, to }) => numbers.every((value) => value >= from && value < to));
  if (serial !== undefined && unit === null && dateName.test(name))
    return { form: 'days', epochDay: serial.epochDay };
  return { form: 'offset', millisecondsEach: unitMs ?? (/^milli/i.test(name) ? 1 : 1000) };
}

/** Names of columns of days. */
export const dayName = /(?:^|[^\p{L}])(?:date|day|datum|tag|fecha|yyyymmdd)(?:$|[^\p{L}])/iu;

/** `20240131093000`. */
function isMoment(value: string): boolean {
  const [, day = '', clock = ''] = /^(\d{8})(\d{6})$/.exec(value.trim()) ?? [];
  return isDay(day) && /^(?:[01]\d|2[0-3])[0-5]\d[0-5]\d$/.test(clock);
}

/** `20240131`. */
function isDay(value: string): boolean {
  const [, year, month, day] = /^(\d{4})(\d{2})(\d{2})$/.exec(value.trim()) ?? [];
  const time = Date.UTC(Number(year), Number(month) - 1, Number(day));
  return time >= firstDay && time < behindLastDay && new Date(time).getUTCMonth() === Number(month) - 1;
}
const [firstDay, behindLastDay] = [Date.UTC(1900, 0), Date.UTC(2101, 0)];

/** `time_ms`, `elapsedMs`, `t_minutes`, `hours`. */
const unitInName =
  /(?:^|_|time|stamp|elapsed|^t)(secs?|s|ms|us|ns|millis|(?:milli|micro|nano)?seconds?|minutes?|hours?|days?)$/i;

/** Name and unit, also of `time (min)`. */
export function headingOf(column: SourceColumn): { name: string; unit: string | null } {
  // `(min)` after a time means minutes, elsewhere the minimum.
  const minutes = /^(.*\S)\s*\(\s*min\s*\)$/i.exec(column.heading.trim());
  if (minutes !== null) return { name: minutes[1] as string, unit: 'min' };
  const heading = readHeading(column.heading);
  return { name: heading.name, unit: column.unit === null ? heading.unit : readUnit(column.unit) };
}
