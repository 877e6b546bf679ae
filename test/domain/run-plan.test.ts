import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  endAttempt,
  followUpDecision,
  type NodeFacts,
  reasonToRun,
  releaseDelayMs,
  retryDelayMs,
} from '../../domain/runs/run-plan.ts';

const idle: NodeFacts = {
  isInput: false,
  trigger: 'all',
  parentPositions: [1],
  consumedPosition: 0,
  hasOpenRun: false,
  followUpWanted: false,
  reprocessWanted: false,
};

describe('a node gets a run', () => {
  test.each<[string, Partial<NodeFacts>, string | undefined]>([
    ['for news of its only parent', {}, 'input'],
    [
      'for news of one parent with the newest of the others',
      { parentPositions: [3, 9], consumedPosition: 8 },
      'input',
    ],
    ['not before every parent has published', { parentPositions: [1, 0] }, undefined],
    ['when one parent is enough', { parentPositions: [1, 0], trigger: 'any' }, 'input'],
    ['not for what it has consumed', { consumedPosition: 1 }, undefined],
    ['not while one is open', { hasOpenRun: true }, undefined],
    ['never as an input node', { isInput: true }, undefined],
    ['to follow up, whatever it consumed', { consumedPosition: 1, followUpWanted: true }, 'follow-up'],
    ['to reprocess what it consumed', { consumedPosition: 1, reprocessWanted: true }, 'reprocess'],
    ['not to reprocess nothing', { parentPositions: [0], reprocessWanted: true }, undefined],
    ['not to reprocess while one is open', { hasOpenRun: true, reprocessWanted: true }, undefined],
  ])('%s', (_name, facts, expected) => {
    expect(reasonToRun({ ...idle, ...facts })).toBe(expected);
  });
});

const run = { attempt: 1, maxAttempts: 3, firstAttempt: 1, lostCount: 0, cancelRequested: false };
const failure = (category: 'error' | 'validation' | 'memory' | 'timeout') =>
  ({ kind: 'fail', category, reason: 'Why.' }) as const;

describe('the end of an attempt', () => {
  test.each(['error', 'timeout', 'memory'] as const)(
    '%s is tried again, but not after the last attempt',
    (category) => {
      expect(endAttempt(run, failure(category), 0)).toMatchObject({
        kind: 'retry',
        outcome: 'failed',
        delayMs: 5_000,
      });
      expect(endAttempt({ ...run, attempt: 3 }, failure(category), 0)).toEqual({
        kind: 'done',
        outcome: 'failed',
        nodeState: 'Failed',
        statusDetails: `${category}: Why.`,
        failure: { category, reason: 'Why.' },
      });
    },
  );

  test('without a reason is named by its category alone', () => {
    const silent = { kind: 'fail', category: 'error', reason: ' ' } as const;
    const waiting = 'Attempt 1 of 3 failed, waiting for the next: error';
    expect(endAttempt(run, silent, 0).statusDetails).toBe(waiting);
    expect(endAttempt({ ...run, attempt: 3 }, silent, 0).statusDetails).toBe('error');
  });

  test('validation is never tried again', () => {
    expect(endAttempt(run, failure('validation'), 0)).toMatchObject({ kind: 'done', nodeState: 'Failed' });
  });

  test('a lost lease is tried again at once; the third loss, or one in the last attempt, is a time-out', () => {
    for (const before of [{}, { attempt: 2, lostCount: 1 }])
      expect(endAttempt({ ...run, ...before }, { kind: 'lost' }, 0)).toMatchObject({
        kind: 'retry',
        outcome: 'lost',
        delayMs: 0,
      });
    for (const last of [{ lostCount: 2, maxAttempts: 20 }, { attempt: 3 }]) {
      expect(endAttempt({ ...run, ...last }, { kind: 'lost' }, 0)).toMatchObject({
        kind: 'done',
        outcome: 'failed',
        statusDetails: expect.stringMatching(/^timeout: /),
      });
    }
  });

  test('a cancelled run ends as cancelled for any reported outcome', () => {
    const reports = [{ kind: 'complete', outcome: 'completed' }, failure('error'), { kind: 'lost' }] as const;
    for (const report of reports) {
      expect(endAttempt({ ...run, cancelRequested: true }, report, 0)).toEqual({
        kind: 'done',
        outcome: 'cancelled',
        nodeState: 'Failed',
        statusDetails: 'cancelled',
      });
    }
  });

  test.each([
    ['completed', 'Succeeded', ''],
    ['no-output', 'Succeeded', 'Finished without an output.'],
    ['suspended', 'Suspended', ''],
  ] as const)('%s leaves the node %s', (outcome, nodeState, statusDetails) => {
    expect(endAttempt(run, { kind: 'complete', outcome }, 0)).toEqual({
      kind: 'done',
      outcome,
      nodeState,
      statusDetails,
    });
  });
});

describe('delays', () => {
  test('retries wait 5 seconds, twice as long each time, five minutes at the most, and half of it at the least', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (attempt, jitter) => {
          const full = Math.min(300_000, 5_000 * 2 ** (attempt - 1));
          expect(retryDelayMs(attempt, jitter)).toBeGreaterThanOrEqual(full / 2);
          expect(retryDelayMs(attempt, jitter)).toBeLessThanOrEqual(full);
        },
      ),
    );
  });

  test('releases wait from the third on, 1, 2, 4 ... 60 seconds', () => {
    expect([1, 2, 3, 4, 5, 9, 30].map(releaseDelayMs)).toEqual([0, 0, 1_000, 2_000, 4_000, 60_000, 60_000]);
  });
});

test('a follow-up requires a step of the watermark and an outcome that continues', () => {
  const asked = { hasMore: true, outcome: 'completed', watermarkMoved: true } as const;
  expect(followUpDecision(asked).followUp).toBe(true);
  expect(followUpDecision({ ...asked, hasMore: false }).followUp).toBe(false);
  expect(followUpDecision({ ...asked, watermarkMoved: false })).toMatchObject({
    followUp: false,
    why: expect.any(String),
  });
  expect(followUpDecision({ ...asked, outcome: 'suspended' })).toMatchObject({
    followUp: false,
    why: expect.any(String),
  });
});

/**
 * A session in memory that follows the plan alone: publications get positions, runs are queued when wanted, fixed to an
 * upper bound at their claim, and consume up to it when they end.
 */
class Model {
  private position = 0;
  readonly published: number[][];
  readonly consumed: number[];
  readonly runs: Array<{ upper: number | null } | null>;
  /** For each node the positions that its runs have handled, in order. */
  readonly handled: number[][];
  private readonly parents: readonly (readonly number[])[];

  constructor(parents: readonly (readonly number[])[]) {
    this.parents = parents;
    this.published = parents.map(() => []);
    this.consumed = parents.map(() => 0);
    this.runs = parents.map(() => null);
    this.handled = parents.map(() => []);
  }

  publish(node: number): void {
    this.position += 1;
    this.published[node]!.push(this.position);
    this.plan();
  }

  /** Claims or ends the run of a node, whichever is next; false when it has none. */
  step(node: number, outcome: 'completed' | 'no-output' | 'failed'): boolean {
    const open = this.runs[node];
    if (!open) return false;
    if (open.upper === null) {
      open.upper = Math.max(0, ...this.parents[node]!.flatMap((parent) => this.published[parent]!));
      return true;
    }
    const upper = open.upper;
    const news = this.parents[node]!.flatMap((parent) => this.published[parent]!).filter(
      (position) => position > this.consumed[node]! && position <= upper,
    );
    this.handled[node]!.push(...news.sort((a, b) => a - b));
    this.consumed[node] = Math.max(this.consumed[node]!, upper);
    this.runs[node] = null;
    if (outcome === 'completed') this.publish(node);
    else this.plan();
    return true;
  }

  private plan(): void {
    this.parents.forEach((parents, node) => {
      const wanted = reasonToRun({
        isInput: parents.length === 0,
        trigger: 'all',
        parentPositions: parents.map((parent) => this.published[parent]!.at(-1) ?? 0),
        consumedPosition: this.consumed[node]!,
        hasOpenRun: this.runs[node] !== null,
        followUpWanted: false,
        reprocessWanted: false,
      });
      // At most one run in flight: a second one would overwrite an open one.
      if (wanted) {
        expect(this.runs[node]).toBeNull();
        this.runs[node] = { upper: null };
      }
    });
  }
}

const graphs: ReadonlyArray<readonly (readonly number[])[]> = [
  [[], [0], [1]],
  [[], [0], [0], [1, 2]],
  [[], [], [0, 1], [2], [0, 3]],
];

test('for any schedule no input is skipped, none is handled twice, and every graph comes to rest', () => {
  const step = fc.record({
    act: fc.constantFrom('upload', 'step', 'step', 'step'),
    node: fc.nat(),
    outcome: fc.constantFrom('completed', 'completed', 'no-output', 'failed'),
  });
  fc.assert(
    fc.property(fc.constantFrom(...graphs), fc.array(step, { maxLength: 80 }), (parents, schedule) => {
      const model = new Model(parents);
      const inputs = parents.flatMap((of, node) => (of.length === 0 ? [node] : []));
      for (const { act, node, outcome } of schedule) {
        if (act === 'upload') model.publish(inputs[node % inputs.length]!);
        else model.step(node % parents.length, outcome as 'completed');
      }
      let steps = 0;
      while (parents.some((_of, node) => model.step(node, 'completed'))) {
        steps += 1;
        expect(steps).toBeLessThan(10_000);
      }
      parents.forEach((of, node) => {
        if (of.length === 0) return;
        const inputsOfNode = of.flatMap((parent) => model.published[parent]!).sort((a, b) => a - b);
        const ready = of.every((parent) => model.published[parent]!.length > 0);
        expect(model.handled[node]).toEqual(ready ? inputsOfNode : []);
      });
    }),
    { numRuns: 300 },
  );
});
