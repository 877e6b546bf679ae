import { expect, test } from 'vitest';
import { ReconcilePace } from '../../activities/reconcile-pace.ts';

const noted = (count: number, again = true) => {
  const pace = new ReconcilePace();
  for (let at = 0; at < count; at++) pace.note(`session-${at}`, again, at);
  return pace;
};

test('sessions are reconciled ten times a second together, and each within a minute', () => {
  expect(noted(0).sharedMs(0)).toBe(0);
  expect(noted(10).sharedMs(10)).toBe(1_000);
  expect(noted(200).sharedMs(200)).toBe(20_000);
  expect(noted(1_000).sharedMs(1_000)).toBe(60_000);
});

test('those that are not reconciled again, and those of more than a minute ago, do not count', () => {
  const pace = noted(200);
  for (let at = 0; at < 150; at++) pace.note(`session-${at}`, false, 200);
  pace.note('session-199', true, 200);
  expect(pace.sharedMs(200)).toBe(5_000);
  expect(pace.sharedMs(60_200)).toBe(100);
  expect(noted(200, false).sharedMs(200)).toBe(0);
});
