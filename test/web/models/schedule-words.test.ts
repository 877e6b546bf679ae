import { expect, test } from 'vitest';
import { nextText, whenText } from '../../../web/src/reports/schedule-words.ts';

test('a schedule says when it writes, by whose clock', () => {
  const timing = { at: '06:30', weekday: 'friday', dayOfMonth: 31, timeZone: 'Europe/Berlin' } as const;
  const said = (['hour', 'day', 'week', 'month'] as const).map((every) => whenText({ ...timing, every }));
  expect(said).toEqual([
    'Every hour at minute 30',
    'Every day at 06:30, Europe/Berlin',
    'Every Friday at 06:30, Europe/Berlin',
    'On day 31 of each month at 06:30, Europe/Berlin',
  ]);
});

test('the next time of a schedule is told by its own clock, in summer and in winter', () => {
  expect(nextText('2026-12-06T21:30:00.000Z', 'Asia/Tokyo')).toBe('Mon, 7 Dec 2026, 06:30');
  expect(nextText('2026-07-03T04:30:00.000Z', 'Europe/Berlin')).toBe('Fri, 3 Jul 2026, 06:30');
  expect(nextText('2026-12-04T05:30:00.000Z', 'Europe/Berlin')).toBe('Fri, 4 Dec 2026, 06:30');
});
