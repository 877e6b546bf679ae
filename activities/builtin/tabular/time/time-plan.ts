/** How a time column is read and becomes milliseconds. */
import { parseTimestamp } from '../../../../domain/timestamp.ts';
import type { TabularConfiguration } from '../configuration.ts';
import type { ReadAs, SourceColumn } from '../read/source.ts';
import type { Content } from './time-content.ts';

const ambiguity = (format: string) => {
  const [date, order] = format.includes('-')
    ? ['1-2-2000', 'day-month-year']
    : ['1/2/2000', 'month/day/year'];
  return `Dates such as ${date} were read as ${order}; the order is ambiguous in this file.`;
};

export interface TimePlan {
  /** Index of the column; null when rows are numbered. */
  column: number | null;
  /** Index of the column with the time of the day, where `column` holds days alone; else null. */
  clock: number | null;
  /** What the times begin anew after: times of the day alone at midnight, `mm:ss.f` of a clock with the hour. */
  beginsAnew: 'day' | 'hour' | null;
  kind: 'absolute' | 'relative';
  readAs: ReadAs;
  timestampFormat: string | null;
  /** SQL of milliseconds as DOUBLE from the column as it leaves the reader; null where the row has no time. */
  milliseconds: (column: string) => string;
  warnings: string[];
}

const oneColumn = { clock: null, beginsAnew: null, timestampFormat: null };

export function toPlan(index: number, content: Content, configuration: TabularConfiguration): TimePlan {
  const base = configuration.baseCapturedAt == null ? null : parseTimestamp(configuration.baseCapturedAt);
  const plan = { ...oneColumn, column: index, warnings: [] as string[] };
  const offset = base === null ? '' : ` + ${base.getTime()}.0`;
  const relative = base === null ? ('relative' as const) : ('absolute' as const);
  switch (content.form) {
    case 'native':
      return { ...plan, kind: 'absolute', readAs: 'TIMESTAMPTZ', milliseconds: fromTimestamp };
    case 'text':
      if (content.isAmbiguous) plan.warnings.push(ambiguity(content.format ?? ''));
      return {
        ...plan,
        kind: 'absolute',
        readAs: content.format === null ? 'TIMESTAMPTZ' : 'TIMESTAMP',
        timestampFormat: content.format,
        milliseconds: fromTimestamp,
      };
    case 'duration': {
      const value = (column: string) => (content.readAs === 'INTERVAL' ? `epoch(${column}) * 1000` : column);
      const milliseconds = (column: string) => `round(${value(column)}, 6)${offset}`;
      return { ...plan, kind: relative, readAs: content.readAs, milliseconds };
    }
    case 'days':
      return { ...plan, ...numberedDays(content.epochDay) };
    case 'year':
      return {
        ...plan,
        kind: 'absolute',
        readAs: 'DOUBLE',
        milliseconds: (column) =>
          `CASE WHEN ${column} BETWEEN 1 AND 9999 AND ${column} = floor(${column})
            THEN epoch_us(CAST(make_date(CAST(${column} AS INTEGER), 1, 1) AS TIMESTAMP)) / 1000.0 END`,
      };
    case 'epoch': {
      const milliseconds = (column: string) => scaled(column, content.millisecondsEach, 3);
      return { ...plan, kind: 'absolute', readAs: 'DOUBLE', milliseconds };
    }
    case 'offset':
      return {
        ...plan,
        kind: relative,
        readAs: 'DOUBLE',
        milliseconds: (column) => `${scaled(column, content.millisecondsEach, 6)}${offset}`,
      };
  }
}

function numberedDays(epochDay: number): Pick<TimePlan, 'kind' | 'readAs' | 'milliseconds' | 'warnings'> {
  return {
    kind: 'absolute',
    readAs: 'DOUBLE',
    milliseconds: (column) => `round((${column} + ${epochDay}) * 86400000.0)`,
    warnings: ['The numbers in the time column were read as days, as spreadsheets keep dates.'],
  };
}

/** In the message of a failure: a time of the day is above 24 hours, so it is a duration. */
export const overDayMark = 'sdp-over-a-day';

/** The failure with {@link overDayMark}: the plan of the time is wrong. */
export class OverDayError extends Error {}

/**
 * The plan of a column of days, with the time of the day from the column `clock`, which is read as an INTERVAL.
 * @param isStrict whether a time over 24 hours ends the statement with {@link overDayMark}
 */
export function withClock(days: TimePlan, clock: number, isStrict: boolean): TimePlan {
  const value = `c${clock}`;
  const time = isStrict
    ? `CASE WHEN ${value} > INTERVAL 24 HOUR THEN error('${overDayMark}') ELSE ${value} END`
    : value;
  return {
    ...days,
    clock,
    milliseconds: (column) => `${days.milliseconds(column)} + round(epoch(${time}) * 1000, 3)`,
  };
}

/** The heading of the time column, `Date, Time` where two columns hold it; null when rows are numbered. */
export function timeName(
  columns: readonly Pick<SourceColumn, 'heading'>[],
  { column, clock }: Pick<TimePlan, 'column' | 'clock'>,
): string | null {
  if (column === null) return null;
  return [column, ...(clock === null ? [] : [clock])]
    .map((index) => columns[index]?.heading ?? '')
    .join(', ');
}

function fromTimestamp(column: string): string {
  return `epoch_us(${column}) / 1000.0`;
}

/** Rounded below the recording's precision, so that 0.07 s is 70 ms and not 70.00000000000001. */
function scaled(column: string, millisecondsEach: number, digits: number): string {
  if (millisecondsEach === 1) return column;
  const value =
    millisecondsEach > 1
      ? `${column} * ${millisecondsEach}.0`
      : `${column} / ${Math.round(1 / millisecondsEach)}.0`;
  return `round(${value}, ${digits})`;
}
