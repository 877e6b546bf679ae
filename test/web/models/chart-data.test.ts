/** The curves of a chart over one list of times, and the marks of its axis, without a browser. */
import { expect, test } from 'vitest';
import { gapsIn, lonelyPoints } from '../../../web/src/dashboard/chart/curve.ts';
import { joinCurves } from '../../../web/src/dashboard/chart/join.ts';
import { numberSplits } from '../../../web/src/dashboard/chart/splits.ts';
import { UtcDate } from '../../../web/src/dashboard/chart/utc-date.ts';
import { pathOf } from '../../../web/src/dashboard/panels/drawing.ts';
import { curveOf } from '../../../web/src/dashboard/thumbnails/small-curve.ts';

test('curves of different times keep every point, also several of one time', () => {
  const few = { times: [0, 1000, 2000], values: [7, null, 8] };
  // Clocks of whole seconds: the peak is neither the first nor the last row of its second.
  const many = { times: [1000, 1000, 1000, 3000], values: [1, 90, 2, 3] };
  expect(joinCurves([few, many])).toEqual({
    times: [0, 1000, 1000, 1000, 2000, 3000],
    values: [
      [7, null, undefined, undefined, 8, undefined],
      [undefined, 1, 90, 2, undefined, 3],
    ],
  });
  expect(joinCurves([])).toEqual({ times: [], values: [] });
  expect(joinCurves([{ times: [], values: [] }, few]).times).toEqual(few.times);
});

test('a value between two rows without one is a dot, on charts, on small charts and over another channel', () => {
  const values = [0, null, null, 3, null, 4, 5, null, 6];
  expect(lonelyPoints(values)).toEqual([0, 3, 8]);
  // A point of another curve is no gap.
  expect(lonelyPoints([1, undefined, 2, null, undefined, 3, undefined, null])).toEqual([5]);
  expect(lonelyPoints([])).toEqual([]);
  const times = values.map((_, index) => index);
  const curve = curveOf(
    { channel: '1:a', name: 'a', unit: null, times, values },
    { lowest: 0, highest: 6 },
    { width: 8, height: 12 },
  );
  expect(curve).toBe('M0.0 9.0h0M3.0 6.0h0M5.0 5.0L6.0 4.0M8.0 3.0h0');
  const trace = { name: 'a', times, xs: times, ys: values };
  const place = { x: (value: number) => value, y: (value: number) => value };
  expect(pathOf(trace, place as Parameters<typeof pathOf>[1], 'line')).toBe('M0 0h0M3 3h0M5 4L6 5M8 6h0');
});

test('a gap of a curve lasts to its next value, also where another curve has points meanwhile', () => {
  const slow = { times: [0, 10, 20, 60], values: [1, 2, null, 3] };
  const other = { times: [5, 15, 25, 35, 65], values: [9, 9, 9, 9, 9] };
  const { times, values } = joinCurves([slow, other]);
  const [first, second] = values.map((one) => gapsIn(one).map(([from, to]) => [times[from], times[to]]));
  expect(first).toEqual([[10, 60]]);
  expect(second).toEqual([]);
  // Rows without a value at the start and at the end.
  expect(gapsIn([null, 1, null, null, 2, 3, null, undefined])).toEqual([
    [0, 1],
    [1, 4],
    [5, 7],
  ]);
});

test('an axis has the multiples of its step, and comes to an end where numbers have no places between them', () => {
  expect(numberSplits(-0.25, 0.31, 0.1)).toEqual([-0.2, -0.1, 0, 0.1, 0.2, 0.3]);
  expect(numberSplits(0, 0, 1)).toEqual([0]);
  const counter = 1.2e18;
  expect(numberSplits(counter, counter + 256, 50).length).toBeLessThan(20);
});

test('an axis in UTC has every hour once, also where the clock of the machine is changed', () => {
  const { TZ: zone } = process.env;
  try {
    for (const other of ['Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'UTC']) {
      process.env.TZ = other;
      for (const change of [
        Date.UTC(2026, 2, 29),
        Date.UTC(2026, 9, 25),
        Date.UTC(2026, 2, 8),
        Date.UTC(2026, 10, 1),
      ]) {
        const hours = Array.from({ length: 30 }, (_, hour) => new UtcDate(change + hour * 3_600_000));
        expect(hours.map((one) => one.getHours())).toEqual(hours.map((_, hour) => hour % 24));
      }
      const one = new UtcDate(Date.UTC(2026, 11, 31, 23, 59, 58, 7));
      const parts = [one.getFullYear(), one.getMonth(), one.getDate(), one.getMinutes(), one.getSeconds()];
      expect([...parts, one.getMilliseconds()]).toEqual([2026, 11, 31, 59, 58, 7]);
      // uPlot counts from the midnight of the machine.
      expect(one.getTime() - new Date(2026, 11, 31).getTime()).toBe(86_398_007);
    }
  } finally {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  }
});
