import { expect, test } from 'vitest';
import {
  formatElapsed,
  formatMean,
  formatShare,
  withoutNoise,
} from '../../../web/src/dashboard/figure-texts.ts';
import {
  formatAgo,
  formatBytes,
  formatDate,
  formatExactly,
  formatValue,
  plural,
  setTimeZone,
} from '../../../web/src/format.ts';
import { actorTitle, withoutCategory } from '../../../web/src/names.ts';
import { closeWords } from '../../../web/src/session/summary.ts';

test('sizes are powers of 1,024', () => {
  expect([0, 1023, 1024, 10_239, 1024 ** 2 - 1, 1024 ** 2 * 17.4, 1024 ** 4 * 3].map(formatBytes)).toEqual([
    '0 B',
    '1023 B',
    '1.0 KB',
    '10.0 KB',
    '1.0 MB',
    '17 MB',
    '3.0 TB',
  ]);
});

test('values keep six significant digits and never become unreadable', () => {
  expect([0, 12.345678, -0.5, 123_456.7, 1.23e12, -4.2e-7, 1 / 3].map(formatValue)).toEqual([
    '0',
    '12.3457',
    '-0.5',
    '123,457',
    '1.23e+12',
    '-4.2e-7',
    '0.333333',
  ]);
});

test('a mean is short, and never beyond the values that it is of', () => {
  expect(formatMean(52.98765, 50, 56)).toBe('52.99');
  expect(formatMean(1013.2441, 1013.18, 1013.28)).toBe('1,013.2');
  expect(formatMean(100.0412, 100.041, 100.06)).toBe('100.041');
  expect(formatMean(-1_000_049, -1_000_050, -1_000_048)).toBe('-1,000,049');
});

test('a mean that is as good as 0 is 0, and a small one of small values is itself', () => {
  expect([withoutNoise(1.408e-14, 40), withoutNoise(-1e-7, 40), withoutNoise(2e-12, 3e-12)]).toEqual([
    0, -1e-7, 2e-12,
  ]);
});

test('a share is all or nothing only where it is', () => {
  expect([0, 0.004, 0.254, 0.996, 1].map(formatShare)).toEqual([
    '0 %',
    'under 1 %',
    '25 %',
    'over 99 %',
    '100 %',
  ]);
});

test('elapsed time grows from minutes to days and shows decimals only where they matter', () => {
  expect(formatElapsed(0, 1000)).toBe('0:00');
  expect(formatElapsed(65_250, 10)).toBe('1:05.25');
  expect(formatElapsed(59_999.6, 1000)).toBe('1:00');
  expect(formatElapsed(3_725_000, 1000)).toBe('1:02:05');
  expect(formatElapsed(-1500, 100)).toBe('−0:01.5');
  expect(formatElapsed(90_061_000, 60_000)).toBe('1 d 01:01:01');
});

test('times of day stand as how long ago they were, older ones as themselves', () => {
  const now = Date.parse('2026-03-14T12:00:00Z');
  expect(formatAgo('2026-03-14T11:59:50Z', now)).toBe('just now');
  expect(formatAgo('2026-03-14T11:57:00Z', now)).toBe('3 min ago');
  expect(formatAgo('2026-03-14T11:14:00Z', now)).toBe('46 min ago');
  expect(formatAgo('2026-03-14T07:10:00Z', now)).toBe('5 h ago');
  expect(formatAgo('2026-03-14T12:20:00Z', now)).toBe('in 20 min');
  expect(formatAgo('2026-03-13T12:00:00Z', now)).toBe('yesterday');
  expect(formatAgo('2026-02-01T12:00:00Z', now)).toMatch(/1 Feb 2026/);
  expect(formatAgo('2026-02-01T12:00:00Z', now, formatDate)).toBe('1 Feb 2026');
  expect(formatAgo('soon', now)).toBe('soon');
});

test('an exact time has its seconds and its zone', () => {
  setTimeZone('UTC');
  expect(formatExactly('2026-03-14T09:30:05.250Z')).toBe('14 Mar 2026, 09:30:05 UTC');
  expect(formatExactly('soon')).toBe('soon');
  setTimeZone(undefined);
  expect(formatExactly('2026-03-14T09:30:05.250Z')).toMatch(/:05 [A-Z]/);
});

test('counts agree with their words', () => {
  expect([plural(1, 'row', 'rows'), plural(1500, 'row', 'rows')]).toEqual(['1 row', '1,500 rows']);
});

test('a reason says neither its category nor the digests behind the names of files', () => {
  const reason = (name: string) => `${name}: Line 1, column 1: The byte "8e" is not UTF-8.`;
  expect(withoutCategory(`validation: ${reason('run.csv-63f6598edf48791e')}`)).toBe(reason('run.csv'));
  expect(withoutCategory('error: RuntimeError: no run.csv-7')).toBe('RuntimeError: no run.csv-7');
});

test('a close that falls due later is not one that has been', () => {
  setTimeZone('UTC');
  const close = { closedAt: '2026-03-14T09:30:00.000Z', closeReason: 'The exercise is over.' };
  const due = Date.parse(close.closedAt);
  const text = 'at 14 Mar 2026, 09:30 UTC: The exercise is over.';
  expect(closeWords(close, due - 1)).toEqual({ badge: 'Closes', text });
  expect(closeWords(close, due)).toEqual({ badge: 'Closed', text });
  setTimeZone(undefined);
});

test('what a device did was not done by the person of its token', () => {
  const people = new Map<string | null, string>([['7', 'Petra Berg']]);
  const titles = ['user', 'device'].flatMap((kind) =>
    ['7', '8'].map((id) => actorTitle({ kind, id }, '8', people)),
  );
  expect(titles).toEqual(['Petra Berg', 'You', 'Device', 'Device']);
});
