/** The lines of a run's log as the console computes them, without a browser. */
import { describe, expect, test } from 'vitest';
import type { RunLogEntry } from '../../../../client/types.ts';
import { chunkLines, LogLines, piecesOf, readable } from '../../../../web/src/runs/log-lines.ts';

const at = (seconds: number) => new Date(Date.UTC(2026, 2, 1, 10, 0, seconds)).toISOString();

describe('the lines of a log', () => {
  const lines = (count: number) => {
    const made = new LogLines(20);
    for (let position = 1; position <= count; position += 1) {
      const entry: RunLogEntry = {
        position,
        at: at(0),
        attempt: 1,
        level: position === 250 ? 'error' : 'info',
        source: 'runner',
        message: `line ${position}`,
        fields: null,
      };
      made.add(entry);
    }
    return made;
  };

  test('are drawn only about what is in view, whatever their number', () => {
    const log = lines(100_050);
    expect(log.firstError).toBe(249);
    const top = log.window(0, 600);
    expect([top.first, top.last, top.abovePx]).toEqual([0, 1, 0]);
    const middle = log.window(1_000_000, 600);
    expect((middle.last - middle.first + 1) * chunkLines).toBeLessThanOrEqual(400);
    const drawnPx = Array.from({ length: middle.last - middle.first + 1 }, (_, index) =>
      log.height(middle.first + index),
    ).reduce((sum, px) => sum + px, 0);
    expect(middle.abovePx + drawnPx + middle.belowPx).toBe(100_050 * 20);
    expect(log.window(99_999_999, 600).last).toBe(log.chunks - 1);
  });

  test('have measured heights, and guessed ones for what has been added since', () => {
    const log = lines(150);
    expect(log.measure(0, 3_000)).toBe(true);
    expect(log.measure(1, 900)).toBe(true);
    expect(log.measure(1, 900)).toBe(false);
    log.add({ ...log.entries[0]!, position: 151 });
    expect([log.height(0), log.height(1), log.offset(1)]).toEqual([3_000, 920, 3_000]);
    log.forgetHeights();
    expect([log.height(0), log.height(1)]).toEqual([2_000, 1_020]);
  });

  test('are marked where they hold what was searched for, in any case', () => {
    expect(piecesOf('Lap 3 of lap', 'lap')).toEqual(['', 'Lap', ' 3 of ', 'lap', '']);
    expect(piecesOf('Lap 3', '')).toEqual(['Lap 3']);
  });
});

test('a line of the platform names people and runners, and repeats nothing; one of a runner stays as it was written', () => {
  const written = (part: Partial<RunLogEntry>): RunLogEntry => ({
    position: 1,
    at: at(0),
    attempt: 1,
    level: 'info',
    source: 'platform',
    message: '',
    fields: null,
    ...part,
  });
  const names = new Map([['0b1f', 'Maria Verdi']]);
  const retried = written({ message: 'Retried by user 0b1f.', fields: { userId: '0b1f' } });
  expect(readable(retried, names)).toEqual({ message: 'Retried by Maria Verdi.', fields: '' });
  expect(readable(retried, new Map()).message).toBe('Retried by user 0b1f.');
  const instanceId = 'top-speed:pit-wall-3:16608:4c58b1cf';
  const released = written({ message: `Released by ${instanceId}.`, fields: { instanceId } });
  expect(readable(released, names)).toEqual({ message: 'Released by top speed on pit-wall-3.', fields: '' });
  const own = { source: 'runner', message: instanceId, fields: { instanceId } } as const;
  expect(readable(written(own), names)).toEqual({
    message: instanceId,
    fields: JSON.stringify({ instanceId }),
  });
});
