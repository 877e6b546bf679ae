import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { daysUpToNow, momentsOf, startOfDay } from '../../../web/src/days.ts';
import { setTimeZone } from '../../../web/src/format.ts';
import { readFilter, writeFilter } from '../../../web/src/query/model.ts';
import { momentText, spanText, tickLabel, ticksOf } from '../../../web/src/shared/ticks.ts';

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

test('the axis of shared sessions has round times, few enough to be read, in the zone in which times are shown', () => {
  const startMs = Date.parse('2026-03-14T09:30:07.000Z');
  const labels = (hours: number) => {
    const { stepMs, times } = ticksOf({ fromMs: startMs, toMs: startMs + hours * 3_600_000 }, 8);
    return times.map((time) => tickLabel(time, stepMs));
  };
  expect(labels(0.01).slice(0, 2)).toEqual(['10:30:10', '10:30:15']);
  expect(labels(1).slice(0, 2)).toEqual(['10:40', '10:50']);
  // The clock is changed on the 29th.
  expect(labels(24).slice(0, 5)).toEqual(['12:00', '15:00', '18:00', '21:00', '15 Mar']);
  expect(labels(18 * 24)).toEqual(['19 Mar', '26 Mar']);
  const { times } = ticksOf({ fromMs: startMs, toMs: startMs + 18 * 24 * 3_600_000 }, 20);
  expect(times.map((time) => new Date(time).getHours())).toEqual(times.map(() => 0));
  expect([momentText(startMs), spanText({ fromMs: startMs, toMs: startMs + 3_600_000 })]).toEqual([
    '14 Mar 2026 10:30:07',
    '14 Mar 2026 10:30:07 to 11:30:07',
  ]);
  setTimeZone('UTC');
  expect(labels(1).slice(0, 2)).toEqual(['09:40', '09:50']);
  expect(labels(400 * 24).length).toBeLessThanOrEqual(9);
  expect([momentText(startMs), spanText({ fromMs: startMs, toMs: startMs + 3_600_000 })]).toEqual([
    '14 Mar 2026 09:30:07 UTC',
    '14 Mar 2026 09:30:07 to 10:30:07 UTC',
  ]);
});
