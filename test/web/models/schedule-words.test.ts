import { expect, test } from 'vitest';
import { whenText } from '../../../web/src/reports/schedule-words.ts';

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
