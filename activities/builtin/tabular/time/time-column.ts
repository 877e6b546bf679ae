/** Which column holds the time: the configured one, or the one with the highest score of name, content and order. */
import { isRecordingTime } from '../../../../domain/outputs/recording.ts';
import type { TabularConfiguration } from '../configuration.ts';
import type { Engine } from '../engine.ts';
import { excerpt, TabularError } from '../errors.ts';
import type { SourceColumn, TableSource } from '../read/source.ts';
import { areWithinHours, durationMs, durationsMs } from '../text/duration-text.ts';
import { readHeading } from '../text/heading.ts';
import { isNumberText, toNumber } from '../text/text-values.ts';
import { unitMilliseconds } from '../text/time-units.ts';
import { clockBeside, holdsDays, isClock } from './clock-column.ts';
import { type Content, contentOf, dayName, headingOf } from './time-content.ts';
import { candidateTimes } from './time-formats.ts';
import { type TimePlan, timeName, toPlan, withClock } from './time-plan.ts';

interface Candidate {
  index: number;
  content: Content;
  score: number;
}

const strongNames =
  /^(?:time|times|timestamp|timestamps|datetime|date_?time|date|t|ts|epoch|epoch_?time|unix_?time|unixtime|utc|elapsed|elapsed_?time|sim_?time|simulation_?time|time_?stamp|clock|zeit|zeitstempel|datum|temps|tiempo|fecha|seconds?|secs?|millis|milliseconds?)(?:_?(?:s|sec|ms|us|ns|utc|gmt))?$/i;
const weakName = /(?:^|[\s_.\-/])(?:time|timestamp|date|datetime|epoch|elapsed|zeit)(?:$|[\s_.\-/])/i;
const idName =
  /^(?:id|index|idx|row|row_?(?:no|number|id)|no|nr|n|#|line|sample|record|(?:sub[ _]?)?frame(?:[ _]?(?:no|number))?|count|.*[\s_.\-/](?:id|index|idx))$/i;

/**
 * @param pairs whether a column of days and the time of the day beside it are one time
 * @throws TabularError when the configured column is missing or holds no time
 */
export async function planTime(
  engine: Engine,
  source: TableSource,
  configuration: TabularConfiguration,
  pairs = true,
): Promise<TimePlan> {
  const wanted = configuration.timeColumn ?? null;
  const detects = configuration.autoDetectTimeColumn ?? true;
  let chosen: Pick<Candidate, 'index' | 'content'> | null = null;
  if (wanted !== null) chosen = await namedColumn(engine, source, configuration, wanted);
  else if (detects) chosen = await findCandidate(engine, source, configuration, pairs);
  if (chosen === null) return numberedRows();
  const { index, content } = chosen;
  const plan = { ...toPlan(index, content, configuration), beginsAnew: beginsAnew(source, chosen) };
  const clock = detects && pairs ? clockBeside(source.columns, index, content) : null;
  return clock === null ? plan : withClock(plan, clock, wanted === null);
}

/** The plan where the time beside a day turned out to be a duration, which goes over 24 hours. */
export async function planDuration(
  engine: Engine,
  source: TableSource,
  configuration: TabularConfiguration,
): Promise<TimePlan> {
  const plan = await planTime(engine, source, configuration, false);
  const name = excerpt(timeName(source.columns, plan) ?? '');
  const warning = `The times beside the days go over 24 hours: they are durations. The time is ${name}.`;
  return { ...plan, warnings: [...plan.warnings, warning] };
}

function beginsAnew(
  source: TableSource,
  { index, content }: Pick<Candidate, 'index' | 'content'>,
): TimePlan['beginsAnew'] {
  const column = source.columns[index] as SourceColumn;
  if (isClock(column)) return 'day';
  const isHours = content.form === 'duration' && content.readAs === 'MILLISECONDS';
  return isHours && areWithinHours(column.sample) ? 'hour' : null;
}

async function namedColumn(
  engine: Engine,
  source: TableSource,
  configuration: TabularConfiguration,
  wanted: string,
): Promise<Pick<Candidate, 'index' | 'content'>> {
  const index = findColumn(source.columns, wanted);
  const column = source.columns[index] as SourceColumn;
  const content = await contentOf(engine, column, source.decimalComma, configuration, true);
  if (content !== null) return { index, content };
  const example = column.sample.find((value) => value !== null);
  throw new TabularError(
    example === undefined
      ? 'The time column has no values.'
      : `The time column contains ${excerpt(example)}; its values are not times of one format.`,
    { column: index + 1, columnName: column.heading },
  );
}

function numberedRows(): TimePlan {
  return {
    column: null,
    clock: null,
    beginsAnew: null,
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
  const names = columns.slice(0, 8).map((column) => excerpt(column.heading));
  const more = columns.length > names.length ? ', …' : '';
  throw new TabularError(
    `The file has no column ${excerpt(wanted)} for the time; it has ${names.join(', ')}${more}.`,
  );
}

async function findCandidate(
  engine: Engine,
  source: TableSource,
  configuration: TabularConfiguration,
  pairs: boolean,
): Promise<Candidate | null> {
  let best: Candidate | null = null;
  let textChecks = 0;
  for (const [index, column] of source.columns.entries()) {
    // A gap in the time would cost rows; only a configured time column may have them.
    if (column.sample.length === 0 || column.sample.some((value) => value === null)) continue;
    const areNumbers = column.sample.every((value) => isNumberText(value ?? '', source.decimalComma));
    const mayBeTimes =
      areNumbers || candidateTimes(column.sample) || durationMs(column.sample[0] ?? '') !== null;
    if (column.kind === 'text' && !mayBeTimes) continue;
    if (column.kind === 'text' && ++textChecks > 50) continue;
    const content = await contentOf(engine, column, source.decimalComma, configuration, false);
    if (content === null) continue;
    const score = scoreOf(index, column, content, source, pairs);
    if (score > (best?.score ?? 0)) best = { index, content, score };
  }
  return best;
}

/** The score of a column; 0: it is not a time column. */
function scoreOf(
  index: number,
  column: SourceColumn,
  content: Content,
  source: TableSource,
  pairs: boolean,
): number {
  const { decimalComma, columns } = source;
  const { name, unit } = headingOf(column);
  const isStrong = strongNames.test(lastPart(name));
  const isWeak = weakName.test(spaced(name));
  if (content.form === 'native' || content.form === 'text') {
    const moments = new Set(column.sample).size;
    // One moment for all rows, or one day for many: a column that goes on is the better time.
    if (moments < column.sample.length && !(pairs && clockBeside(columns, index, content) !== null)) {
      if (moments === 1) return 30;
      if (holdsDays(column, content)) return 45;
    }
    return isStrong || dayName.test(name) ? 100 : isWeak ? 90 : 70;
  }
  if (content.form === 'duration' && content.readAs === 'INTERVAL') return isStrong ? 85 : isWeak ? 75 : 0;
  if (content.form === 'year') return 50;
  if (content.form === 'days') {
    const moments = new Set(column.sample).size;
    return moments === 1 ? 30 : moments < column.sample.length ? 45 : 95;
  }
  const order = orderOf(
    content.form === 'duration'
      ? durationsMs(column.sample)
      : column.sample.map((value) => toNumber(value, decimalComma)),
  );
  if (content.form === 'duration') {
    if (isStrong) return order.rising >= 0.9 ? 85 : 0;
    return isWeak && order.isStrict ? 75 : 0;
  }
  if (content.form === 'epoch') {
    if (isStrong || isWeak) return 95;
    return order.isStrict && !idName.test(name) ? 60 : 0;
  }
  if (isStrong) return order.rising >= 0.9 ? 80 : 0;
  const hasTimeUnit = unit !== null && unitMilliseconds(unit) !== null;
  if (isWeak || hasTimeUnit) return order.isStrict ? 72 : 0;
  const couldBe =
    index === 0 && columns.length > 1 && unit === null && order.isStrict && column.sample.length >= 3;
  // Only the order of its values makes the column a time: numbers too large for times rule it out.
  const areTimes = column.sample.every((value) =>
    isRecordingTime(toNumber(value, decimalComma) * content.millisecondsEach),
  );
  return couldBe && areTimes && !idName.test(name) ? 40 : 0;
}

/** Share of steps that do not fall, and whether all of them rise. */
function orderOf(sample: readonly number[]): { rising: number; isStrict: boolean } {
  let notFalling = 0;
  let rises = 0;
  for (let i = 1; i < sample.length; i++) {
    const step = (sample[i] as number) - (sample[i - 1] as number);
    if (step >= 0) notFalling++;
    if (step > 0) rises++;
  }
  const steps = Math.max(1, sample.length - 1);
  return { rising: sample.length < 2 ? 1 : notFalling / steps, isStrict: rises === steps };
}

/** `properties.time` is a time as `time` is. */
function lastPart(name: string): string {
  return name.slice(Math.max(...['.', '/', ':'].map((mark) => name.lastIndexOf(mark))) + 1);
}

/** `deathDate`, `death_date` and `death date` alike. */
function spaced(name: string): string {
  return name.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2');
}
