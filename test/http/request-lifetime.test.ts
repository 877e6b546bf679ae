import { expect, test } from 'vitest';
import { Problem } from '../../domain/errors.ts';
import { RequestLifetime } from '../../http/request-lifetime.ts';

test('what a call holds is released once when it ends, and at once when it has ended already', () => {
  const released: string[] = [];
  const life = new RequestLifetime();
  life.onEnd(() => released.push('first'));
  expect(released).toEqual([]);
  life.end();
  life.end();
  life.onEnd(() => released.push('late'));
  expect(released).toEqual(['first', 'late']);
});

test('a call is cut by its first refusal, and not after its end or without its caller', () => {
  const cuts: string[] = [];
  const cutting = (life: RequestLifetime) => () => life.cut(new Problem('unauthorized'));
  const life = new RequestLifetime(() => cuts.push('broken off'));
  life.throwIfCut();
  life.cut(new Problem('unavailable'));
  cutting(life)();
  expect([life.refusal?.key, life.signal.aborted, cuts]).toEqual(['unavailable', true, ['broken off']]);
  expect(() => life.throwIfCut()).toThrow(life.refusal);

  const ended = new RequestLifetime(() => cuts.push('ended'));
  ended.end();
  cutting(ended)();
  expect([ended.refusal, ended.signal.aborted]).toEqual([undefined, false]);
  const left = new RequestLifetime(() => cuts.push('left'));
  left.hangUp();
  cutting(left)();
  expect(left.refusal).toBeUndefined();
  expect(() => left.throwIfCut()).toThrow('The request is malformed.');
  expect(cuts).toEqual(['broken off']);
});
