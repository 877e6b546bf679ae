/** Which column holds the time, in what form, and how it becomes milliseconds. */
import { listValue } from '@duckdb/node-api';
import { parseTimestamp } from '../../../domain/timestamp.ts';
import type { TabularConfiguration } from './configuration.ts';
import type { Engine } from './engine.ts';
import { shown, TabularError } from './errors.ts';
import { readHeading, readUnit } from './headings.ts';
import type { ReadAs, SourceColumn, TableSource } from './source.ts';
import { isNumberText, toNumber } from './text-values.ts';
import { candidateTimes, timeFormats } from './time-formats.ts';

export interface TimePlan {
  /** Index of the column; null when rows are numbered. */
  column: number | null;
  kind: 'absolute' | 'relative';
  readAs: ReadAs;
  timestampFormat: string | null;
  /** SQL of milliseconds as DOUBLE from the column as it leaves the reader; null where there is no time. */
  milliseconds: (column: string) => string;
  warnings: string[];
}

type Content =
  | { form: 'text'; format: string | null; isAmbiguous: boolean }
  | { form: 'native' }
  | { form: 'duration' }
  | { form: 'epoch'; millisecondsEach: number }
  | { form: 'offset'; millisecondsEach: number }
  | { form: 'year' };

interface Candidate {
  index: number;
  content: Content;
  score: number;
}

const strongNames =
  /^(?:time|times|timestamp|timestamps|datetime|date_?time|date|t|ts|epoch|epoch_?time|unix_?time|unixtime|utc|elapsed|elapsed_?time|sim_?time|simulation_?time|time_?stamp|clock|zeit|zeitstempel|datum|temps|tiempo|fecha|seconds?|secs?|millis|milliseconds?)(?:_?(?:s|sec|ms|us|ns|utc|gmt))?$/i;
const weakName = /(?:^|[\s_.\-/])(?:time|timestamp|date|datetime|epoch|elapsed|zeit)(?:$|[\s_.\-/])/i;
const yearName = /^(?:year|jahr|yr)$/i;
const idName =
  /^(?:id|index|idx|row|row_?(?:no|number|id)|no|nr|n|#|line|sample|record|count|.*[\s_.\-/](?:id|index|idx))$/i;

/** @throws TabularError when the configured column is not there or holds no time */
export async function planTime(
  engine: Engine,
  source: TableSource,
  configuration: TabularConfiguration,
): Promise<TimePlan> {
  const wanted = configuration.timeColumn ?? null;
  if (wanted !== null) {
    const index = findColumn(source.columns, wanted);
    const column = source.columns[index] as SourceColumn;
    const content = await contentOf(engine, column, source.decimalComma, configuration, true);
    if (content === null) {
      const example = column.sample.find((value) => value !== null);
      throw new TabularError(
        example === undefined
          ? 'The time column holds no value.'
          : `The time column holds ${shown(example)}, among others; its values are not times of one form.`,
        { column: index + 1, columnName: column.heading },
      );
    }
    return toPlan(index, content, configuration);
  }
  if (configuration.autoDetectTimeColumn ?? true) {
    const best = await findCandidate(engine, source, configuration);
    if (best !== null) return toPlan(best.index, best.content, configuration);
  }
  return {
    column: null,
    kind: 'relative',
    readAs: 'DOUBLE',
    timestampFormat: null,
    milliseconds: () => `CAST(row_number() OVER () - 1 AS DOUBLE)`,
    warnings: ['The file has no time column; the rows are numbered from 0.'],
  };
}

function findColumn(columns: readonly SourceColumn[], wanted: string): number {
  const matches: ((heading: string) => boolean)[] = [
    (heading) => heading === wanted,
    (heading) => heading.trim().toLowerCase() === wanted.toLowerCase(),
    (heading) => readHeading(heading).name.toLowerCase() === readHeading(wanted).name.toLowerCase(),
  ];
  for (const isMatch of matches) {
    const index = columns.findIndex((column) => isMatch(column.heading));
    if (index !== -1) return index;
  }
  const names = columns.slice(0, 8).map((column) => shown(column.heading));
  const more = columns.length > names.length ? ', …' : '';
  throw new TabularError(
    `The file has no column ${shown(wanted)} for the time; it has ${names.join(', ')}${more}.`,
  );
}

async function findCandidate(
  engine: Engine,
  source: TableSource,
  configuration: TabularConfiguration,
): Promise<Candidate | null> {
  let best: Candidate | null = null;
  let textChecks = 0;
  for (const [index, column] of source.columns.entries()) {
    // A gap in the time would cost rows; only a configured time column may have them.
    if (column.sample.length === 0 || column.sample.some((value) => value === null)) continue;
    const areNumbers = column.sample.every((value) => isNumberText(value ?? '', source.decimalComma));
    if (column.kind === 'text' && !areNumbers && !candidateTimes(column.sample)) continue;
    if (column.kind === 'text' && ++textChecks > 50) continue;
    const content = await contentOf(engine, column, source.decimalComma, configuration, false);
    if (content === null) continue;
    const score = scoreOf(index, column, content, source);
    if (score > (best?.score ?? 0)) best = { index, content, score };
  }
  return best;
}

/** How much speaks for a column; 0: it is no time column. */
function scoreOf(index: number, column: SourceColumn, content: Content, source: TableSource): number {
  const { decimalComma, columns } = source;
  const { name, unit } = headingOf(column);
  const isStrong = strongNames.test(lastPart(name));
  const isWeak = weakName.test(spaced(name));
  if (content.form === 'native' || content.form === 'text') return isStrong ? 100 : isWeak ? 90 : 70;
  if (content.form === 'duration') return isStrong ? 85 : isWeak ? 75 : 0;
  if (content.form === 'year') return 50;
  const order = orderOf(column.sample, decimalComma);
  if (content.form === 'epoch') {
    if (isStrong || isWeak) return 95;
    return order.isStrict && !idName.test(name) ? 60 : 0;
  }
  if (isStrong) return order.rising >= 0.9 ? 80 : 0;
  const hasTimeUnit = unit !== null && unitMilliseconds(unit) !== null;
  if (isWeak || hasTimeUnit) return order.isStrict ? 72 : 0;
  const couldBe =
    index === 0 && columns.length > 1 && unit === null && order.isStrict && column.sample.length >= 3;
  return couldBe && !idName.test(name) ? 40 : 0;
}

/** Share of steps that do not fall, and whether all of them rise. */
function orderOf(
  sample: readonly (string | null)[],
  decimalComma: boolean,
): { rising: number; isStrict: boolean } {
  let notFalling = 0;
  let rises = 0;
  for (let i = 1; i < sample.length; i++) {
    const step = toNumber(sample[i] ?? null, decimalComma) - toNumber(sample[i - 1] ?? null, decimalComma);
    if (step >= 0) notFalling++;
    if (step > 0) rises++;
  }
  const steps = Math.max(1, sample.length - 1);
  return { rising: sample.length < 2 ? 1 : notFalling / steps, isStrict: rises === steps };
}

async function contentOf(
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
    return { form: 'duration' };
  return textContent(engine, values);
}

/** Tries all forms of dates on the sample, within DuckDB, since its reading is the one that counts later. */
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
  if (counts[1] === all) return { form: 'text', format: null, isAmbiguous: false };
  const fits = timeFormats.filter((_, index) => counts[index + 2] === all);
  const format = fits[0];
  if (format === undefined) return null;
  const swapped = format.replace('%m/%d', '%d/%m');
  return { form: 'text', format, isAmbiguous: swapped !== format && fits.includes(swapped) };
}

/** Epoch times from 1990 to 2100, by the size of their numbers. */
const epochs = [
  { millisecondsEach: 1000, from: 6.3e8, to: 4.2e9 },
  { millisecondsEach: 1, from: 6.3e11, to: 4.2e12 },
  { millisecondsEach: 1e-3, from: 6.3e14, to: 4.2e15 },
  { millisecondsEach: 1e-6, from: 6.3e17, to: 4.2e18 },
];

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
  const epoch = epochs.find(({ from, to, millisecondsEach }) => {
    if (isMs !== null && millisecondsEach !== (isMs ? 1 : 1000)) return false;
    return numbers.every((value) => value >= from && value < to);
  });
  if (epoch !== undefined) return { form: 'epoch', millisecondsEach: epoch.millisecondsEach };
  if (isMs !== null) return { form: 'offset', millisecondsEach: isMs ? 1 : 1000 };
  const fromName = /_(s|sec|ms|us|ns)$/i.exec(name)?.[1] ?? (/^milli/i.test(name) ? 'ms' : '');
  const millisecondsEach =
    (unit === null ? null : unitMilliseconds(unit)) ?? unitMilliseconds(fromName) ?? 1000;
  return { form: 'offset', millisecondsEach };
}

function unitMilliseconds(unit: string): number | null {
  switch (unit.toLowerCase()) {
    case 's':
    case 'sec':
    case 'secs':
    case 'second':
    case 'seconds':
      return 1000;
    case 'ms':
    case 'msec':
    case 'millisecond':
    case 'milliseconds':
      return 1;
    case 'us':
    case 'µs':
    case 'μs':
    case 'microseconds':
      return 1e-3;
    case 'ns':
    case 'nanoseconds':
      return 1e-6;
    case 'min':
    case 'minutes':
      return 60_000;
    case 'h':
    case 'hr':
    case 'hours':
      return 3_600_000;
    case 'd':
    case 'days':
      return 86_400_000;
    default:
      return null;
  }
}

function headingOf(column: SourceColumn): { name: string; unit: string | null } {
  // `(min)` after a time means minutes, elsewhere the minimum.
  const minutes = /^(.*\S)\s*\(\s*min\s*\)$/i.exec(column.heading.trim());
  if (minutes !== null) return { name: minutes[1] as string, unit: 'min' };
  const heading = readHeading(column.heading);
  return { name: heading.name, unit: column.unit === null ? heading.unit : readUnit(column.unit) };
}

/** `properties.time` is a time as `time` is. */
function lastPart(name: string): string {
  return name.slice(Math.max(...['.', '/', ':'].map((mark) => name.lastIndexOf(mark))) + 1);
}

/** `deathDate`, `death_date` and `death date` alike. */
function spaced(name: string): string {
  return name.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2');
}

function toPlan(index: number, content: Content, configuration: TabularConfiguration): TimePlan {
  const base = configuration.baseCapturedAt == null ? null : parseTimestamp(configuration.baseCapturedAt);
  const plan = { column: index, timestampFormat: null, warnings: [] as string[] };
  const offset = base === null ? '' : ` + ${base.getTime()}.0`;
  const relative = base === null ? ('relative' as const) : ('absolute' as const);
  switch (content.form) {
    case 'native':
      return { ...plan, kind: 'absolute', readAs: 'TIMESTAMPTZ', milliseconds: fromTimestamp };
    case 'text':
      if (content.isAmbiguous) {
        plan.warnings.push(
          'Dates such as 1/2/2000 were read as month/day/year; no value tells it for certain.',
        );
      }
      return {
        ...plan,
        kind: 'absolute',
        readAs: content.format === null ? 'TIMESTAMPTZ' : 'TIMESTAMP',
        timestampFormat: content.format,
        milliseconds: fromTimestamp,
      };
    case 'duration':
      return {
        ...plan,
        kind: relative,
        readAs: 'INTERVAL',
        milliseconds: (column) => `round(epoch(${column}) * 1000, 6)${offset}`,
      };
    case 'year':
      return {
        ...plan,
        kind: 'absolute',
        readAs: 'DOUBLE',
        milliseconds: (column) =>
          `CASE WHEN ${column} BETWEEN 1 AND 9999 AND ${column} = floor(${column})
            THEN epoch_us(CAST(make_date(CAST(${column} AS INTEGER), 1, 1) AS TIMESTAMP)) / 1000.0 END`,
      };
    case 'epoch':
      return {
        ...plan,
        kind: 'absolute',
        readAs: 'DOUBLE',
        milliseconds: (column) => scaled(column, content.millisecondsEach, 3),
      };
    case 'offset':
      return {
        ...plan,
        kind: relative,
        readAs: 'DOUBLE',
        milliseconds: (column) => `${scaled(column, content.millisecondsEach, 6)}${offset}`,
      };
  }
}

function fromTimestamp(column: string): string {
  return `epoch_us(${column}) / 1000.0`;
}

/** Rounded below what the recording can mean, so that 0.07 s is 70 ms and not 70.00000000000001. */
function scaled(column: string, millisecondsEach: number, digits: number): string {
  if (millisecondsEach === 1) return column;
  const value =
    millisecondsEach > 1
      ? `${column} * ${millisecondsEach}.0`
      : `${column} / ${Math.round(1 / millisecondsEach)}.0`;
  return `round(${value}, ${digits})`;
}
