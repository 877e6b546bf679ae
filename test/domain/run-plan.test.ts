import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { endAttempt, hasInputs, type NodeFacts, releaseDelayMs, runWanted } from '../../domain/run-plan.ts';

const idle: NodeFacts = {
  isInput: false,
  trigger: 'all',
  parentPositions: [3],
  consumedPosition: 3,
  hasOpenRun: false,
  followUpWanted: false,
  reprocessWanted: false,
};
const facts = fc.record<NodeFacts>({
  isInput: fc.boolean(),
  trigger: fc.constantFrom('all', 'any'),
  parentPositions: fc.array(fc.nat(5), { maxLength: 3 }),
  consumedPosition: fc.nat(6),
  hasOpenRun: fc.boolean(),
  followUpWanted: fc.boolean(),
  reprocessWanted: fc.boolean(),
});

describe('which run a node gets', () => {
  test.each<[string, Partial<NodeFacts>, ReturnType<typeof runWanted>]>([
    ['nothing new', {}, undefined],
    ['news', { parentPositions: [4] }, 'input'],
    ['news of one parent, none of the other yet', { parentPositions: [4, 0] }, undefined],
    ['news of one parent where one is enough', { parentPositions: [4, 0], trigger: 'any' }, 'input'],
    ['a reprocess', { reprocessWanted: true }, 'reprocess'],
    ['a reprocess and news: one run for both', { reprocessWanted: true, parentPositions: [4] }, 'reprocess'],
    [
      'a reprocess without an input of each parent',
      { reprocessWanted: true, parentPositions: [3, 0] },
      undefined,
    ],
    ['a follow-up, before anything else', { followUpWanted: true, reprocessWanted: true }, 'follow-up'],
    ['something in flight', { hasOpenRun: true, reprocessWanted: true, parentPositions: [9] }, undefined],
    ['an Input node', { isInput: true, reprocessWanted: true }, undefined],
  ])('%s', (_case, change, reason) => {
    expect(runWanted({ ...idle, ...change })).toBe(reason);
  });

  test('a node in flight or without inputs gets none; news or a reprocess get one otherwise', () => {
    fc.assert(
      fc.property(facts, (node) => {
        const reason = runWanted(node);
        if (node.isInput || node.hasOpenRun) return reason === undefined;
        if (node.followUpWanted) return reason === 'follow-up';
        if (!hasInputs(node)) return reason === undefined;
        const hasNews = node.parentPositions.some((position) => position > node.consumedPosition);
        return (reason !== undefined) === (node.reprocessWanted || hasNews);
      }),
    );
  });
});

describe('how attempts end', () => {
  const run = { attempt: 1, maxAttempts: 3, lostCount: 0, cancelRequested: false };

  test('a run ends within its attempts, whatever its runners report', () => {
    const report = fc.oneof(
      fc.constant({ kind: 'lost' } as const),
      fc.record({
        kind: fc.constant('fail' as const),
        category: fc.constantFrom('error', 'validation', 'memory', 'timeout'),
        reason: fc.string(),
      }),
    );
    fc.assert(
      fc.property(fc.infiniteStream(report), fc.integer({ min: 1, max: 20 }), (reports, maxAttempts) => {
        let lostCount = 0;
        for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
          const next = reports.next().value;
          const end = endAttempt({ ...run, attempt, maxAttempts, lostCount }, next, 0.5);
          if (end.kind === 'done') return end.nodeState === 'Failed';
          lostCount += next.kind === 'lost' ? 1 : 0;
        }
        return false;
      }),
    );
  });

  test('a cancelled run fails without a retry, whatever is reported', () => {
    const completed = { kind: 'complete', outcome: 'completed' } as const;
    expect(endAttempt({ ...run, cancelRequested: true }, completed, 0)).toMatchObject({
      kind: 'done',
      outcome: 'cancelled',
      nodeState: 'Failed',
    });
  });

  test('releases wait from the third on, at most a minute', () => {
    expect([1, 2, 3, 4, 5, 9, 40].map(releaseDelayMs)).toEqual([0, 0, 1_000, 2_000, 4_000, 60_000, 60_000]);
  });
});
