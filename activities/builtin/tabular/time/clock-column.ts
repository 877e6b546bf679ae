/** The column with the time of the day beside a column of days: many loggers write `Date` and `Time` apart. */
import type { SourceColumn } from '../read/source.ts';
import { type Content, headingOf } from './time-content.ts';

/** Not `lap time` and not `elapsed`: those are durations. */
const clockName =
  /^(?:(?:local|utc|gmt|gps|system|pc)[ _]?)?(?:time|clock|zeit|uhrzeit|temps|heure|hora|tiempo|time[ _]?of[ _]?day|tod)(?:[ _]?(?:utc|gmt|local))?$/i;
const clockText = /^\s*(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9})?)?\s*$/;
const halfDayClockText = /^\s*(?:0?[1-9]|1[0-2]):[0-5]\d(?::[0-5]\d(?:[.,]\d{1,6})?)?\s?[AP]M\s*$/i;
const isoDay = /^\s*\d{4}-\d{2}-\d{2}\s*$/;

/**
 * @param day index of the time column, and its content
 * @returns the index of the column whose texts are times of a day and which is called so; null when there is none, or the
 * time column holds more than days
 */
export function clockBeside(columns: readonly SourceColumn[], day: number, content: Content): number | null {
  if (!holdsDays(columns[day] as SourceColumn, content)) return null;
  // A gap would cost rows, as in the time column.
  const index = columns.findIndex(
    (column, other) =>
      other !== day &&
      (isClock(column) || (other === day + 1 && isUnnamed(column) && holdsClock(column))) &&
      !column.sample.includes(null),
  );
  return index === -1 ? null : index;
}

/** Whether its times are days alone. */
export function holdsDays({ sample }: SourceColumn, content: Content): boolean {
  if (content.form !== 'text') return false;
  if (content.format === null) return sample.every((value) => value === null || isoDay.test(value));
  return content.format.includes('%d') && !/%[HI]/.test(content.format);
}

/** Whether the column is called a time, and its texts are times of a day. */
export function isClock(column: SourceColumn): boolean {
  return clockName.test(headingOf(column).name) && holdsClock(column);
}

function holdsClock({ kind, sample }: SourceColumn): boolean {
  const values = sample.filter((value) => value !== null);
  if (kind !== 'text' || values.length === 0) return false;
  return [clockText, halfDayClockText].some((form) => values.every((value) => form.test(value)));
}

/** The file has no headings, so the reader made this one. */
function isUnnamed({ heading }: SourceColumn): boolean {
  return /^column_\d+$/.test(heading);
}
