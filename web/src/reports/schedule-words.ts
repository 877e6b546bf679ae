/** When a schedule writes, in words. Pure: tested without a browser. */
import type { ReportSchedule } from '../../../client/types.ts';

export const weekdays = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const;

export const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** `Mon, 7 Dec 2026, 06:30`, by the same clock as the rest. */
export const nextText = (at: string, timeZone: string): string =>
  new Intl.DateTimeFormat('en-GB', {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZone,
  }).format(new Date(at));

type Timing = Pick<ReportSchedule, 'every' | 'at' | 'weekday' | 'dayOfMonth' | 'timeZone'>;

/** `Every Monday at 06:30, Europe/Berlin` */
export function whenText({ every, at, weekday, dayOfMonth, timeZone }: Timing): string {
  switch (every) {
    case 'hour':
      return `Every hour at minute ${at.slice(3)}`;
    case 'day':
      return `Every day at ${at}, ${timeZone}`;
    case 'week':
      return `Every ${capital(weekday)} at ${at}, ${timeZone}`;
    case 'month':
      return `On day ${dayOfMonth} of each month at ${at}, ${timeZone}`;
  }
}
