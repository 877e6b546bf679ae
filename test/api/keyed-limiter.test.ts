import { setImmediate as nextTick } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { KeyedLimiter } from '../../api/keyed-limiter.ts';

test('no more at once than allowed, in order, and a busy key holds up no other', async () => {
  const limiter = new KeyedLimiter(3, 2);
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const begin = (name: string, key: string) =>
    limiter.run(async () => {
      started.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
    }, key);
  const all = [begin('a1', 'a'), begin('a2', 'a'), begin('a3', 'a'), begin('b1', 'b'), begin('b2', 'b')];
  await nextTick();
  expect(started).toEqual(['a1', 'a2', 'b1']);
  ends.get('b1')?.();
  await nextTick();
  expect(started.slice(3)).toEqual(['b2']);
  ends.get('a2')?.();
  await nextTick();
  expect(started.slice(4)).toEqual(['a3']);
  for (const name of ['a1', 'a3', 'b2']) ends.get(name)?.();
  await Promise.all(all);
});

test('work that fails releases its place', async () => {
  const limiter = new KeyedLimiter(1);
  const failing = limiter.run(async () => {
    throw new Error('no');
  });
  const after = limiter.run(async () => 'done');
  await expect(failing).rejects.toThrow('no');
  expect(await after).toBe('done');
});

test('what waits fails with an error that it would meet too, and with no other', async () => {
  const limiter = new KeyedLimiter(1, 1, (error) => (error as Error).message === 'away');
  const fail = (message: string) => async () => {
    throw new Error(message);
  };
  const all = ['no', 'away', 'not begun'].map((message) => limiter.run(fail(message)));
  const reasons = (await Promise.allSettled(all)).map(
    (one) => one.status === 'rejected' && one.reason.message,
  );
  expect(reasons).toEqual(['no', 'away', 'away']);
  expect(await limiter.run(async () => 'done')).toBe('done');
});
