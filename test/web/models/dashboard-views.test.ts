/** The address of a dashboard and its time axis. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readView, type View, writeView } from '../../../web/src/dashboard/address.ts';
import { clampSpan, formatSpan, nearestIndex, panSpan, zoomSpan } from '../../../web/src/dashboard/time.ts';

describe('the address of a dashboard', () => {
  test('gives back every view that it was made of', () => {
    const keys = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' });
    const times = fc.integer({ min: 0, max: 4_000_000_000_000 });
    fc.assert(
      fc.property(
        fc.uniqueArray(keys),
        times,
        fc.integer({ min: 1, max: 1e9 }),
        (channels, fromMs, length) => {
          const view = {
            channels,
            span: { fromMs, toMs: fromMs + length },
            kind: 'relative' as const,
            clock: 'elapsed' as const,
            sideBySide: true,
            machines: channels,
            beside: ['12', '7'],
            layout: '12~a-_9',
            a: fromMs,
            b: null,
          };
          expect(readView(new URLSearchParams(writeView(view)))).toEqual(view);
        },
      ),
    );
  });

  const fresh: View = {
    channels: null,
    span: null,
    kind: null,
    clock: 'utc',
    sideBySide: false,
    machines: null,
    beside: [],
    layout: null,
    a: null,
    b: null,
  };

  test('stays short for a fresh view and is readable for an ordinary one', () => {
    expect(writeView(fresh)).toBe('');
    expect(writeView({ ...fresh, channels: ['9:speed', '9:rpm'], clock: 'local' })).toBe(
      '?channels=9:speed,9:rpm&clock=local',
    );
  });

  test('ignores invalid addresses', () => {
    const nonsense = new URLSearchParams('from=2026-02-31T99&to=x&time=soon&clock=sun&channels=%25zz');
    expect(readView(nonsense)).toEqual({ ...fresh, channels: ['%zz'] });
    const backwards = new URLSearchParams('from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z');
    expect(readView(backwards).span).toBeNull();
  });
});

describe('moving along the time axis', () => {
  const full = { fromMs: 0, toMs: 1000 };

  test('never leaves the recording and never becomes too short to draw', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -5000, max: 5000 }),
        fc.integer({ min: 0, max: 9000 }),
        (fromMs, length) => {
          const span = clampSpan({ fromMs, toMs: fromMs + length }, full);
          expect(span.fromMs).toBeGreaterThanOrEqual(0);
          expect(span.toMs).toBeLessThanOrEqual(1000);
          expect(span.toMs - span.fromMs).toBeGreaterThanOrEqual(4);
        },
      ),
    );
  });

  test('zooms around the given moment and pans by parts of what is shown', () => {
    expect(zoomSpan({ fromMs: 0, toMs: 1000 }, 0.5, 200, full)).toEqual({ fromMs: 100, toMs: 600 });
    expect(panSpan({ fromMs: 100, toMs: 300 }, 0.5, full)).toEqual({ fromMs: 200, toMs: 400 });
    expect(panSpan({ fromMs: 100, toMs: 300 }, -2, full)).toEqual({ fromMs: 0, toMs: 200 });
  });

  test('finds the sample nearest to the cursor', () => {
    expect(nearestIndex([], 5)).toBeNull();
    expect([-9, 10, 14, 16, 99].map((time) => nearestIndex([10, 20, 30], time))).toEqual([0, 0, 0, 1, 2]);
  });

  test('writes a range with its day once, and elapsed time without any', () => {
    const fromMs = Date.parse('2026-03-14T09:30:00.000Z');
    const span = { fromMs, toMs: fromMs + 45 * 60_000 };
    expect(formatSpan(span, 'utc', 0)).toBe('14 Mar 2026 09:30:00 to 10:15:00 UTC');
    expect(formatSpan(span, 'elapsed', fromMs)).toBe('0:00 to 45:00');
    expect(formatSpan({ fromMs: 0, toMs: 599_999 }, 'rows', 0)).toBe('row 0 to row 599,999');
  });
});
