/** The page of a session whose node goes through thousands of inputs. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { hasChanged, inSteps, readAgainMs } from '../../../../web/src/session/in-steps.ts';
import { uploadersOf } from '../../../../web/src/session/tabs/uploaders.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a hundred changes a second are shown a few times a second, and the last one always', () => {
  const shown: number[] = [];
  const show = inSteps(250, (change: number) => shown.push(change), new AbortController().signal);
  for (let change = 1; change <= 200; change += 1) {
    show(change);
    vi.advanceTimersByTime(10);
  }
  expect(shown[0]).toBe(1);
  expect(shown.length).toBeLessThanOrEqual(9);
  vi.advanceTimersByTime(250);
  expect(shown.at(-1)).toBe(200);
});

test('a single change is shown at once, and none after the page has left the session', () => {
  const shown: string[] = [];
  const controller = new AbortController();
  const show = inSteps(250, (change: string) => shown.push(change), controller.signal);
  show('first');
  expect(shown).toEqual(['first']);
  show('second');
  controller.abort();
  vi.advanceTimersByTime(1_000);
  expect(shown).toEqual(['first']);
});

test('a list of many pages is read again less often than one of a single page', () => {
  expect(readAgainMs(100)).toBe(500);
  expect(readAgainMs(20_000)).toBe(20_000);
});

test('a row of a long list is rendered again when a value that it shows has changed, and with no other change', () => {
  expect(hasChanged(['lap-1', null], ['lap-1', null])).toBe(false);
  expect(hasChanged(['lap-1', null], ['lap-1', 'Ada'])).toBe(true);
});

test('the uploader of a file is the one who uploaded to its node at that time, unless there are several', () => {
  const entry = (actor: string, at: string, nodeInstanceId: number, action = 'uploadNodeOutput') => ({
    id: 1,
    at,
    action,
    actor: { id: actor, name: actor, kind: 'user' },
    object: { type: 'nodeInstance', id: String(nodeInstanceId) },
    details: {},
  });
  const uploaderOf = uploadersOf([
    entry('Ada', '2026-03-01T10:00:00.100Z', 7),
    entry('Ben', '2026-03-01T10:00:00.200Z', 8),
    entry('Cem', '2026-03-01T10:05:00.000Z', 7, 'reprocessNode'),
    entry('Dora', '2026-03-01T10:09:00.000Z', 7),
    entry('Emil', '2026-03-01T10:09:00.500Z', 7),
  ] as unknown as Parameters<typeof uploadersOf>[0]);
  const at = (createdAt: string, nodeInstanceId = 7) => uploaderOf({ nodeInstanceId, createdAt });
  expect(at('2026-03-01T10:00:01.000Z')).toBe('Ada');
  expect(at('2026-03-01T10:00:01.000Z', 8)).toBe('Ben');
  expect(at('2026-03-01T10:00:01.000Z', 9)).toBeNull();
  expect(at('2026-03-01T10:05:00.000Z')).toBeNull();
  expect(at('2026-03-01T10:09:00.000Z')).toBeNull();
});
