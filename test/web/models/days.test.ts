import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { daysUpToNow, momentsOf, startOfDay } from '../../../web/src/days.ts';
import { setTimeZone } from '../../../web/src/format.ts';
import { readFilter, writeFilter } from '../../../web/src/query/model.ts';

const zone = process.env.TZ;

beforeEach(() => {
  process.env.TZ = 'Europe/Vienna';
});
afterEach(() => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
  setTimeZone(undefined);
  vi.useRealTimers();
});

const bounds = () => [
  startOfDay('2026-11-16'),
  startOfDay('2026-11-30', 1),
  momentsOf({ from: '', to: '2026-11-16' }).to,
];

test('a day of a filter begins and ends in the zone in which times are shown', () => {
  expect(bounds()).toEqual([
    '2026-11-15T23:00:00.000Z',
    '2026-11-30T23:00:00.000Z',
    '2026-11-16T22:59:59.999Z',
  ]);
  setTimeZone('UTC');
  expect(bounds()).toEqual([
    '2026-11-16T00:00:00.000Z',
    '2026-12-01T00:00:00.000Z',
    '2026-11-16T23:59:59.999Z',
  ]);
});

test('today is that of the zone in which times are shown', () => {
  vi.useFakeTimers({ now: Date.parse('2026-11-16T23:30:00Z') });
  expect([daysUpToNow(''), daysUpToNow('1'), daysUpToNow('7')]).toEqual(['', '2026-11-17', '2026-11-11']);
  setTimeZone('UTC');
  expect([daysUpToNow('1'), daysUpToNow('30')]).toEqual(['2026-11-16', '2026-10-18']);
});

test('a time in a query is that of the zone in which times are shown', () => {
  const leaf = { path: 'createdAt', op: 'gte', value: '2026-11-16T23:30:00.000Z' };
  const texts = () => {
    const root = readFilter(leaf)!;
    return [JSON.stringify(root).match(/2026-11-1\dT[\d:]+/)?.[0], JSON.stringify(writeFilter(root))];
  };
  const [local, written] = texts();
  expect(local).toBe('2026-11-17T00:30:00');
  expect(written).toContain(leaf.value);
  setTimeZone('UTC');
  const [utc, same] = texts();
  expect(utc).toBe('2026-11-16T23:30:00');
  expect(same).toBe(written);
});

test('what is no day bounds nothing', () => {
  expect([startOfDay(''), startOfDay('yesterday', 1)]).toEqual([undefined, undefined]);
  expect(momentsOf({ from: '', to: 'yesterday' })).toEqual({ from: '', to: '' });
});
