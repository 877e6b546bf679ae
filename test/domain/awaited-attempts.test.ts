import { describe, expect, test } from 'vitest';
import { awaitedChanges, type OpenRun } from '../../domain/runs/awaited-attempts.ts';
import { attemptActivityId } from '../../domain/runs/reconcile-result.ts';

const calm = { sinceEndMs: null, unreportedEnds: 0, sharedMs: 200 };
const run = (name: string, more: Partial<OpenRun> = {}): OpenRun => ({
  runId: name,
  attempt: 1,
  maxAttempts: 3,
  nodeName: name,
  builtin: false,
  held: false,
  openForMs: 60_000,
  isUnclaimable: false,
  ...more,
});
const runs = (prefix: string, count: number, more: Partial<OpenRun> = {}) =>
  Array.from({ length: count }, (_, at) => run(`${prefix}${at}`, more));
const idsOf = (open: readonly OpenRun[]) =>
  new Set(open.map(({ runId, attempt }) => attemptActivityId(runId, attempt)));
const names = (started: ReturnType<typeof awaitedChanges>['start']) =>
  started.map(({ nodeName }) => nodeName);

describe('what a workflow awaits', () => {
  test('of a long queue the last ten, which wait longest, and no more when they are awaited', () => {
    const queue = runs('q', 100);
    const first = awaitedChanges(queue, calm, new Set());
    expect(names(first.start).sort()).toEqual(
      queue
        .slice(-10)
        .map(({ nodeName }) => nodeName)
        .sort(),
    );
    expect(awaitedChanges(queue, calm, idsOf(first.start as OpenRun[]))).toEqual({
      start: [],
      drop: [],
      reconcileInMs: null,
    });
  });

  test('of the queue of a session beside many others the last one, also when more are awaited already', () => {
    const queue = runs('q', 100);
    const besideMany = { ...calm, sharedMs: 11_000 };
    expect(names(awaitedChanges(queue, besideMany, new Set()).start)).toEqual(['q99']);
    const awaited = idsOf(queue.slice(-10));
    expect(awaitedChanges(queue, besideMany, awaited)).toMatchObject({ start: [], drop: [] });
  });

  test('forty of those that are held, and as many built-in ones that can be claimed', () => {
    const held = runs('h', 50, { held: true, openForMs: 2_500 });
    const builtin = [
      run('frozen', { builtin: true, isUnclaimable: true }),
      ...runs('b', 50, { builtin: true }),
    ];
    const { start } = awaitedChanges([...held, ...builtin, ...runs('q', 50)], calm, new Set());
    const expected = [...builtin.slice(1, 41), ...held.slice(0, 40)].map(({ nodeName }) => nodeName);
    expect(names(start).sort()).toEqual(expected.sort());
  });

  test('what is no longer open is dropped', () => {
    const { drop } = awaitedChanges([run('open')], calm, new Set(['open.1', 'gone.1', 'open.0']));
    expect(drop).toEqual(['gone.1', 'open.0']);
  });

  test.each<[string, OpenRun[], Partial<typeof calm> & { sinceEndMs?: number }]>([
    ['a run that was queued just now', [run('q', { openForMs: 9_000 })], {}],
    [
      'a run that was queued lately, beside many sessions',
      [run('q', { openForMs: 19_000 })],
      { sharedMs: 20_000 },
    ],
    ['a run that was claimed just now', [run('h', { held: true, openForMs: 900 })], {}],
    ['a queue of which a run ended just now', [run('q')], { sinceEndMs: 1_900 } as never],
    ['a queue of which a run was claimed just now', [run('h', { held: true, openForMs: 900 }), run('q')], {}],
  ])('not %s', (_name, open, pace) => {
    expect(awaitedChanges(open, { ...calm, ...pace }, new Set()).start).toEqual([]);
  });
});

describe('when a workflow reconciles again', () => {
  test.each<
    [string, OpenRun[], { unreportedEnds?: number; sinceEndMs?: number; sharedMs?: number }, number | null]
  >([
    ['not, with nothing open', [], { unreportedEnds: 2 }, null],
    ['not, for built-in runs: they are awaited at once', [run('b', { builtin: true })], {}, null],
    ['in a second, for a new run', [run('q', { openForMs: 10 })], {}, 1_000],
    ['in as long again as it waits', [run('q', { openForMs: 3_000 })], {}, 3_000],
    ['in five seconds at most', [run('q', { openForMs: 9_000 })], {}, 5_000],
    [
      'in a second, for a run that was claimed just now',
      [run('h', { held: true, openForMs: 0 }), run('q')],
      {},
      1_000,
    ],
    ['in five seconds, while runs keep ending', [run('q', { openForMs: 10 })], { unreportedEnds: 2 }, 5_000],
    ['later, beside many sessions', [run('q', { openForMs: 10 })], { sharedMs: 17_000 }, 17_000],
    ['in five seconds, for a long queue', runs('q', 11, { openForMs: 10 }), {}, 5_000],
    [
      'in five seconds, when one run of it ended',
      runs('q', 31),
      { unreportedEnds: 1, sinceEndMs: 3_000 },
      5_000,
    ],
  ])('%s', (_name, open, pace, expected) => {
    expect(awaitedChanges(open, { ...calm, ...pace }, new Set()).reconcileInMs).toBe(expected);
  });
});
