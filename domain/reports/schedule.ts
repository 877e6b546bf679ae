/** Schedules: reports that the platform writes by itself and keeps. */

export const scheduleIntervals = ['hour', 'day', 'week', 'month'] as const;
export type ScheduleInterval = (typeof scheduleIntervals)[number];

/** From Monday, which the database counts as 1. */
export const weekdays = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const;

export const reportFormats = ['xlsx', 'csv'] as const;
export type ReportFormat = (typeof reportFormats)[number];

export const reportMediaTypes: Readonly<Record<ReportFormat, string>> = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

const zoneForm = /^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z][A-Za-z0-9_+-]*)*$/;

/** A name such as `Europe/Berlin` or `UTC`. Offsets are none: they know no summer time. */
export function isTimeZone(text: string): boolean {
  if (!zoneForm.test(text)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}

const minutesOfHour = 60;

/** `06:30` is 390. */
export function minuteOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * minutesOfHour + minutes;
}

/** 390 is `06:30`. */
export function timeOf(minute: number): string {
  const two = (number: number) => String(number).padStart(2, '0');
  return `${two(Math.floor(minute / minutesOfHour))}:${two(minute % minutesOfHour)}`;
}
