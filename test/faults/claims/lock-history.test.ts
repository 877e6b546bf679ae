/** The judge of histories accepts every answer of a correct lock, and catches every kind of faulty lock. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LockCall, LockRules } from './lock.ts';
import { judge } from './lock-history.ts';
import { defects, simulate } from './lock-simulation.ts';

const rules: LockRules = { leaseMs: 2_000, maxAttempts: 6, maxLost: 3, slackMs: 5 };

/** Numbers in [0, 1) that a seed fixes (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

test('every history of a correct lock is accepted, for any behaviour of its runners', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      expect(judge(simulate(rules, randomFrom(seed)), rules)).toEqual({ fits: true });
    }),
    { numRuns: 300 },
  );
});

test.for(defects)('a lock that %s is detected', (defect) => {
  let caught = 0;
  for (let seed = 0; seed < 200 && caught < 3; seed++)
    if (!judge(simulate(rules, randomFrom(seed), defect), rules).fits) caught += 1;
  expect(caught).toBe(3);
});

const unknown = Number.POSITIVE_INFINITY;
const claim = (
  sentAt: number,
  answeredAt: number,
  taskId: string,
  instance: string,
  attempt = 1,
): LockCall => ({
  kind: 'claim',
  sentAt,
  answeredAt,
  taskId,
  instance,
  attempt,
});
const heartbeat = (
  sentAt: number,
  answeredAt: number,
  taskId: string,
  instance: string,
  outcome: 'kept' | 'refused' | 'unknown',
): LockCall => ({ kind: 'heartbeat', sentAt, answeredAt, taskId, instance, outcome });
const end = (
  sentAt: number,
  answeredAt: number,
  taskId: string,
  instance: string,
  how: 'complete' | 'fail' | 'fail-for-good' | 'release',
  outcome: 'ended' | 'finished' | 'refused' | 'unknown',
): LockCall => ({ kind: 'end', sentAt, answeredAt, taskId, instance, how, outcome });
const elsewhere = (sentAt: number, answeredAt: number, instance: string): LockCall => ({
  kind: 'claim-elsewhere',
  sentAt,
  answeredAt,
  instance,
});
const delivered = (sentAt: number, answeredAt: number, taskId: string, instance: string): LockCall => ({
  kind: 'delivered',
  sentAt,
  answeredAt,
  taskId,
  instance,
});
const final = (sentAt: number, attempt: number): LockCall => ({
  kind: 'final',
  sentAt,
  answeredAt: sentAt + 1,
  attempt,
});

/** A holds T1 from 0 to 10, then this. */
const held = claim(0, 10, 'T1', 'A');

describe('refuses', () => {
  test.for<[string, LockCall[]]>([
    ['a second holder while the lease of the first is alive', [held, claim(1_900, 1_950, 'T2', 'B', 2)]],
    [
      'a second holder within a lease after a heartbeat',
      [held, heartbeat(1_500, 1_510, 'T1', 'A', 'kept'), claim(2_500, 3_400, 'T2', 'B', 2)],
    ],
    ['a delivery of the task to another instance', [held, delivered(20, 30, 'T1', 'B')]],
    ['a delivery after the lease', [held, delivered(2_100, 2_110, 'T1', 'A')]],
    [
      'a delivery after the end',
      [held, end(20, 30, 'T1', 'A', 'complete', 'ended'), delivered(40, 50, 'T1', 'A')],
    ],
    [
      'a second holder within a lease after a delivery',
      [held, delivered(1_500, 1_510, 'T1', 'A'), claim(2_500, 3_400, 'T2', 'B', 2)],
    ],
    ['a heartbeat that is kept after the lease', [held, heartbeat(2_100, 2_110, 'T1', 'A', 'kept')]],
    [
      'a heartbeat that is kept when the work has another holder',
      [held, claim(2_500, 2_510, 'T2', 'B', 2), heartbeat(2_600, 2_610, 'T1', 'A', 'kept')],
    ],
    [
      'an end that is accepted when the work has another holder',
      [held, claim(2_500, 2_510, 'T2', 'B', 2), end(2_600, 2_610, 'T1', 'A', 'complete', 'ended')],
    ],
    [
      'a heartbeat that is kept after a release',
      [held, end(20, 30, 'T1', 'A', 'release', 'ended'), heartbeat(40, 50, 'T1', 'A', 'kept')],
    ],
    [
      'a run that is claimed again after its end',
      [held, end(20, 30, 'T1', 'A', 'complete', 'ended'), claim(40, 50, 'T2', 'B')],
    ],
    [
      'a run that is claimed again after its last attempt',
      [held, end(20, 30, 'T1', 'A', 'fail-for-good', 'ended'), claim(40, 50, 'T2', 'B', 2)],
    ],
    [
      'a run that is claimed again after the third lost lease',
      [
        held,
        claim(2_100, 2_110, 'T2', 'B', 2),
        claim(4_200, 4_210, 'T3', 'A', 3),
        claim(6_300, 6_310, 'T4', 'B', 4),
      ],
    ],
    [
      'a task id that is handed out twice',
      [held, end(20, 30, 'T1', 'A', 'release', 'ended'), claim(40, 50, 'T1', 'B')],
    ],
    ['a task that another instance may keep', [held, heartbeat(20, 30, 'T1', 'B', 'kept')]],
    ['a holder that is refused', [held, heartbeat(1_500, 1_510, 'T1', 'A', 'refused')]],
    ['a lost lease that is not counted', [held, claim(2_100, 2_110, 'T2', 'B', 1)]],
    [
      'a release that is counted',
      [held, end(20, 30, 'T1', 'A', 'release', 'ended'), claim(40, 50, 'T2', 'B', 2)],
    ],
    [
      'an instance that keeps what it held when it claimed again',
      [held, elsewhere(20, 30, 'A'), heartbeat(40, 50, 'T1', 'A', 'kept')],
    ],
    [
      'a different end that is answered as the first',
      [held, end(20, 30, 'T1', 'A', 'release', 'ended'), end(40, 50, 'T1', 'A', 'complete', 'ended')],
    ],
    [
      'a repeated end that is refused',
      [held, end(20, 30, 'T1', 'A', 'complete', 'ended'), end(40, 50, 'T1', 'A', 'complete', 'refused')],
    ],
    [
      'an end without an answer that has been and has not been',
      [
        held,
        end(20, unknown, 'T1', 'A', 'complete', 'unknown'),
        claim(2_100, 2_110, 'T2', 'B', 2),
        end(2_200, 2_210, 'T1', 'A', 'complete', 'ended'),
      ],
    ],
    ['a run that is done in another attempt than it can be', [held, final(9_000, 1)]],
    [
      'a run that is done before anybody ended it',
      [held, heartbeat(5, 15, 'T1', 'A', 'kept'), final(100, 1)],
    ],
    [
      'a heartbeat that is kept after one was refused for the lease',
      [
        held,
        heartbeat(1_990, 2_020, 'T1', 'A', 'refused'),
        heartbeat(2_005, 2_030, 'T1', 'A', 'kept'),
        heartbeat(2_040, 2_041, 'T1', 'A', 'refused'),
      ],
    ],
  ])('%s', ([, history]) => {
    expect(judge(history, rules).fits).toBe(false);
  });
});

describe('accepts', () => {
  test.for<[string, LockCall[]]>([
    ['a second holder after the lease', [held, claim(1_990, 2_400, 'T2', 'B', 2)]],
    [
      'a lease that a lost heartbeat has renewed',
      [held, heartbeat(1_500, unknown, 'T1', 'A', 'unknown'), heartbeat(3_000, 3_010, 'T1', 'A', 'kept')],
    ],
    [
      'a lost completion that has been',
      [held, end(20, unknown, 'T1', 'A', 'complete', 'unknown'), final(50, 1)],
    ],
    [
      'a lost completion that has not been',
      [held, end(20, unknown, 'T1', 'A', 'complete', 'unknown'), claim(2_100, 2_110, 'T2', 'B', 2)],
    ],
    [
      'a claim that nobody heard of and that was taken back',
      [claim(0, unknown, 'T1', 'A'), claim(30, 40, 'T2', 'B')],
    ],
    ['the same instance again, which gave up what it never used', [held, claim(20, 30, 'T2', 'A')]],
    [
      'the same, after a second reply had delivered it',
      [held, delivered(20, 30, 'T1', 'A'), claim(40, 50, 'T2', 'A')],
    ],
    [
      'a lease that a delivery has renewed',
      [held, delivered(1_500, unknown, 'T1', 'A'), heartbeat(3_000, 3_010, 'T1', 'A', 'kept')],
    ],
    [
      'the same instance again, which gave up what it used',
      [held, heartbeat(20, 30, 'T1', 'A', 'kept'), claim(40, 50, 'T2', 'A', 2)],
    ],
    [
      'the same end twice',
      [
        held,
        end(20, 30, 'T1', 'A', 'release', 'ended'),
        claim(40, 50, 'T2', 'B'),
        end(60, 70, 'T1', 'A', 'release', 'ended'),
      ],
    ],
    [
      'a claim sent twice at once, of which the second call ended what the first had got',
      [
        held,
        heartbeat(20, 30, 'T1', 'A', 'kept'),
        claim(35, 60, 'T2', 'B', 2),
        elsewhere(37, 120, 'B'),
        elsewhere(40, 50, 'A'),
        claim(65, 90, 'T3', 'C', 2),
        end(100, 110, 'T3', 'C', 'complete', 'ended'),
        final(200, 2),
      ],
    ],
    [
      'leases that were prolonged when the servers came back',
      [
        held,
        { kind: 'prolonged', sentAt: 6_000, until: 8_000, answeredAt: unknown },
        heartbeat(9_000, 9_010, 'T1', 'A', 'kept'),
      ],
    ],
  ])('%s', ([, history]) => {
    expect(judge(history, rules)).toEqual({ fits: true });
  });
});
