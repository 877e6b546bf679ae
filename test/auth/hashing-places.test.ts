import { expect, test } from 'vitest';
import { withHashingPlace } from '../../auth/passwords.ts';
import { limits } from '../../domain/limits.ts';

test('one account that signs in without end neither fills the queue nor comes before others', async () => {
  const order: string[] = [];
  const ends: (() => void)[] = [];
  const signIn = (caller: string) =>
    withHashingPlace(caller, () => {
      order.push(caller);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  const flood = Array.from({ length: limits.passwordHashesWaiting * 2 }, () => signIn('flooder'));
  const refused = flood.slice(limits.passwordHashesAtOnce + limits.passwordHashesWaitingPerCaller);
  for (const { status, reason } of (await Promise.allSettled(refused)) as PromiseRejectedResult[])
    expect([status, reason?.key]).toEqual(['rejected', 'tooManyRequests']);
  const others = ['one', 'two', 'three'].map(signIn);
  const all = Promise.allSettled([...flood, ...others]);
  while (ends.length > 0) {
    for (const end of ends.splice(0)) end();
    await new Promise(setImmediate);
  }
  await all;
  await Promise.all(others);
  expect(order.filter((caller) => caller !== 'flooder')).toEqual(['one', 'two', 'three']);
  expect(order.indexOf('three')).toBeLessThan(2 * limits.passwordHashesAtOnce + others.length);
});
