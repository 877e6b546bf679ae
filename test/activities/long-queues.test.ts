import { expect, test } from 'vitest';
import { LongQueues } from '../../activities/long-queues.ts';

test('sessions with long queues are reconciled ten times a second together, each within half a minute', () => {
  const queues = new LongQueues();
  const last = (count: number) => {
    let ms = 0;
    for (let at = 0; at < count; at++) ms = queues.intervalMs(`session-${at}`, 1_000);
    return ms;
  };
  expect(last(1)).toBe(5_000);
  expect(last(50)).toBe(5_000);
  expect(last(200)).toBe(20_000);
  expect(last(1_000)).toBe(30_000);
});

test('those that have not been reconciled for as long count no more, and a repeated one counts once', () => {
  const queues = new LongQueues();
  for (let at = 0; at < 200; at++) queues.intervalMs(`session-${at}`, at);
  expect(queues.intervalMs('session-0', 30_000)).toBe(20_000);
  expect(queues.intervalMs('session-0', 30_160)).toBe(5_000);
});
