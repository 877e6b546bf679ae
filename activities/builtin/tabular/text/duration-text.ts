/** Texts of durations that the database does not read: `mm:ss.f`, and numbers with their unit (`12.5 s`). */
import { isNumberText } from './text-values.ts';
import { timeUnits, unitMilliseconds } from './time-units.ts';

const minutes = /^\s*(\d{1,6}):([0-5]?\d(?:[.,]\d{1,9})?)\s*$/;
const measured = /^\s*([+-]?[\d.,]+(?:[eE][+-]?\d+)?)\s*(\p{L}{1,12})\s*$/u;

/** Null for a text of another form. */
export function durationMs(text: string): number | null {
  const [, whole, seconds] = minutes.exec(text) ?? [];
  if (whole !== undefined && seconds !== undefined)
    return Number(whole) * 60_000 + Number(seconds.replace(',', '.')) * 1000;
  const [, value = '', unit = ''] = measured.exec(text) ?? [];
  const each = unitMilliseconds(unit);
  const number = value.replace(',', '.');
  return each === null || !isNumberText(number) ? null : Number(number) * each;
}

/**
 * Whether all are such durations. Without a fraction `05:06` may be hours and minutes: the unit has to say what it is.
 */
export function areDurations(values: readonly string[], unit: string | null): boolean {
  const areMinutes = values.every((value) => minutes.test(value));
  if (areMinutes) return /^m{1,2}:s{1,2}/i.test(unit ?? '') || values.some((value) => /[.,]/.test(value));
  return values.every((value) => !minutes.test(value) && durationMs(value) !== null);
}

/** Whether they may begin anew after an hour, as spreadsheets show times of a clock (`mm:ss.0`). */
export function areWithinHours(values: readonly (string | null)[]): boolean {
  return values.every((value) => value === null || Number(minutes.exec(value)?.[1] ?? 60) < 60);
}

/** Milliseconds of a column, which go on where the texts begin anew with the hour; NaN for other texts. */
export function durationsMs(values: readonly (string | null)[]): number[] {
  const withinHours = areWithinHours(values);
  let before = 0;
  let hours = 0;
  return values.map((value) => {
    const time = durationMs(value ?? '') ?? Number.NaN;
    if (withinHours && time - before < -1_800_000) hours++;
    before = time;
    return time + hours * 3_600_000;
  });
}

/** SQL of milliseconds as DOUBLE; null for a text of another form. */
export function durationSql(text: string): string {
  const plain = `replace(trim(${text}), ',', '.')`;
  const part = (index: number) => `try_cast(split_part(${plain}, ':', ${index}) AS DOUBLE)`;
  const group = (index: number) =>
    `regexp_extract(${plain}, '^([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?) *([^0-9 ]+)$', ${index})`;
  const units = [...timeUnits].map(([unit, milliseconds]) => `WHEN '${unit}' THEN ${milliseconds}`);
  return `CASE WHEN contains(${text}, ':')
    THEN CASE WHEN regexp_full_match(${plain}, '[0-9]{1,6}:[0-5]?[0-9]([.][0-9]+)?')
      THEN ${part(1)} * 60000 + ${part(2)} * 1000 END
    ELSE try_cast(${group(1)} AS DOUBLE) * CASE lower(${group(2)}) ${units.join(' ')} END END`;
}
