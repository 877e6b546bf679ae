/** Which column holds the time: the configured one, or the one with the highest score of name, content and order. */
import { isRecordingTime } from '../../../../domain/outputs/recording.ts';
import type { TabularConfiguration } from '../configuration.ts';
import type { Engine } from '../engine.ts';
import { shown, TabularError } from '../errors.ts';
import type { SourceColumn, TableSource } from '../read/source.ts';
import { isNumberText, toNumber } from '../read/text-values.ts';
import { readHeading } from '../recording/headings.ts';
import { clockBeside, holdsDays, isClock } from './clock-column.ts';
import { type Content, contentOf, dayName, headingOf, unitMilliseconds } from './time-content.ts';
import { candidateTimes } from './time-formats.ts';
import { type TimePlan, toPlan, withClock } from './time-plan.ts';

interface Candidate {
  index: number;
  content: Content;
  score: number;
}

const strongNames =
  /^(?:time|times|timestamp|timestamps|datetime|date_?time|date|t|ts|epoch|epoch_?time|unix_?time|unixtime|utc|elapsed|elapsed_?time|sim_?time|simulation_?time|time_?stamp|clock|zeit|zeitstempel|datum|temps|tiempo|fecha|seconds?|secs?|millis|milliseconds?)(?:_?(?:s|sec|ms|us|ns|utc|gmt))?$/i;
const weakName = /(?:^|[\s_.\-/])(?:time|timestamp|date|datetime|epoch|elapsed|zeit)(?:$|[\s_.\-/])/i;
const idName =
  /^(?:id|index|idx|row|row_?(?:no|number|id)|no|nr|n|#|line|sample|record|count|.*[\s_.\-/](?:id|index|idx))$/i;

/** @throws TabularError when the configured column is missing or holds no time */
export async function planTime(
  engine: Engine,
  source: TableSource,
  configuration: TabularConfiguration,
): Promise<TimePlan> {
  const wanted = configuration.timeColumn ?? null;
  const detects = configuration.autoDetectTimeColumn ?? true;
  let chosen: Pick<Candidate, 'index' | 'content'> | null = null;
  if (wanted !== null) chosen = await namedColumn(engine, source, configuration, wanted);
  else if (detects) chosen = await findCandidate(engine, source, configuration);
  if (chosen === null) return numberedRows();
  const plan = toPlan(chosen.index, chosen.content, configuration);
  if (isClock(source.columns[chosen.index] as SourceColumn)) return { ...plan, isClock: true };
  const clock = detects ? clockBeside(source.columns, chosen.index, chosen.content) : null;
  return clock === null ? plan : withClock(plan, clock);
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
      : `The time column contains ${shown(example)}; its values are not times of one format.`,
    { column: index + 1, columnName: column.heading },
  );
}

function numberedRows(): TimePlan {
  return {
    column: null,
    clock: null,
    isClock: false,
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

/** The score of a column; 0: it is not a time column. */
function scoreOf(index: number, column: SourceColumn, content: Content, source: TableSource): number {
  const { decimalComma, columns } = source;
  const { name, unit } = headingOf(column);
  const isStrong = strongNames.test(lastPart(name));
  const isWeak = weakName.test(spaced(name));
  if (content.form === 'native' || content.form === 'text') {
    const moments = new Set(column.sample).size;
    // One moment for all rows, or one day for many: a column that goes on is the better time.
    if (moments < column.sample.length && clockBeside(columns, index, content) === null) {
      if (moments === 1) return 30;
      if (holdsDays(column, content)) return 45;
    }
    return isStrong || dayName.test(name) ? 100 : isWeak ? 90 : 70;
  }
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
  // Of a column that nothing but its order makes a time: numbers too large for times are no times.
  const areTimes = column.sample.every((value) =>
    isRecordingTime(toNumber(value, decimalComma) * content.millisecondsEach),
  );
  return couldBe && areTimes && !idName.test(name) ? 40 : 0;
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

/** `properties.time` is a time as `time` is. */
function lastPart(name: string): string {
  return name.slice(Math.max(...['.', '/', ':'].map((mark) => name.lastIndexOf(mark))) + 1);
}

/** `deathDate`, `death_date` and `death date` alike. */
function spaced(name: string): string {
  return name.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2');
}
