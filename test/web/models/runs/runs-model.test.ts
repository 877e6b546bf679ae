/** Runs, and their lists as the console computes them, without a browser. */
import { describe, expect, test } from 'vitest';
import type { NodeInstanceProgress, NodeRun, NodeRunAttempt, NodeRunList } from '../../../../client/types.ts';
import { runsAddress } from '../../../../web/src/runs/address.ts';
import {
  readRunView,
  refreshed,
  runQueryOf,
  type ShownRun,
  templateMeant,
} from '../../../../web/src/runs/list-model.ts';
import {
  attemptWithLog,
  elapsedOf,
  isHopelessRetry,
  nodesBefore,
  outsideRunnerOf,
  phaseOf,
  progressWords,
  segmentsOf,
} from '../../../../web/src/runs/model.ts';
import { groupedByReason } from '../../../../web/src/runs/reasons.ts';
import { writtenName } from '../../../../web/src/runs/run-words.ts';

const at = (seconds: number) => new Date(Date.UTC(2026, 2, 1, 10, 0, seconds)).toISOString();

const attempt = (part: Partial<NodeRunAttempt>): NodeRunAttempt => ({
  number: 1,
  startedAt: null,
  endedAt: null,
  outcome: null,
  category: null,
  reason: '',
  nextAttemptAt: null,
  runner: null,
  ...part,
});

const run = (part: Partial<NodeRun>): NodeRun => ({
  id: 'run-1',
  projectId: 1,
  sessionId: 'session-1',
  sessionName: 'Car 44',
  nodeInstanceId: 1,
  nodeName: 'top speed',
  nodeTemplate: 'top-speed',
  runnerType: 'lap-tools',
  reason: 'input',
  state: 'queued',
  nodeState: 'Pending',
  statusDetails: '',
  attempt: 1,
  maxAttempts: 3,
  cancelRequested: false,
  retryable: false,
  createdAt: at(0),
  endedAt: null,
  nextAttemptAt: null,
  heldBy: null,
  attempts: [attempt({})],
  ...part,
});

const list = (nodeRuns: readonly NodeRun[], totalPages = 1): NodeRunList => ({
  nodeRuns,
  page: 1,
  pageSize: 25,
  totalCount: nodeRuns.length,
  totalPages,
});

describe('the times of an attempt', () => {
  const failed = attempt({ startedAt: at(2), endedAt: at(6), outcome: 'failed', category: 'error' });
  const second = attempt({ number: 2, startedAt: at(16) });
  const both = run({ state: 'held', attempt: 2, attempts: [failed, second] });

  test('are its waiting since the end of the one before, then its work', () => {
    const kinds = (number: 0 | 1) =>
      segmentsOf(both, both.attempts[number]!, Date.parse(at(20))).map(({ kind, words }) => [kind, words]);
    expect(kinds(0)).toEqual([
      ['waiting', 'waited 2.0 s'],
      ['failed', 'took 4.0 s'],
    ]);
    expect(kinds(1)).toEqual([
      ['waiting', 'waited 10.0 s'],
      ['held', 'running for 4.0 s'],
    ]);
  });

  test('without its waiting are what the run took, and what it does now is how long it has done so', () => {
    const now = Date.parse(at(20));
    expect(elapsedOf(both, now)).toBe('4.0 s');
    const ended = attempt({ ...second, endedAt: at(19), outcome: 'completed' });
    const done = run({ state: 'completed', endedAt: at(19), attempts: [failed, ended] });
    expect(elapsedOf(done, now)).toBe('7.0 s');
    const waits = attempt({ number: 2, startedAt: null });
    expect(elapsedOf(run({ state: 'waiting', attempts: [failed, waits] }), now)).toBe('14.0 s');
    expect(elapsedOf(run({ state: 'cancelled', endedAt: at(9) }), now)).toBe('9.0 s');
  });

  test('of a run that a person retried later are counted from then, not from the end of the attempt before', () => {
    const ended = attempt({ ...failed, nextAttemptAt: at(50) });
    const again = attempt({ number: 2 });
    const queued = run({ state: 'queued', attempt: 2, attempts: [ended, again] });
    const now = Date.parse(at(53));
    expect(elapsedOf(queued, now)).toBe('3.0 s');
    expect(segmentsOf(queued, again, now).map(({ words }) => words)).toEqual(['has waited 3.0 s']);
    // The clock of the browser may be behind that of the platform.
    const early = Date.parse(at(49.5));
    expect(elapsedOf(queued, early)).toBe('0 ms');
    expect(segmentsOf(queued, again, early).map(({ words }) => words)).toEqual(['has waited 0 ms']);
    const claimed = attempt({ number: 2, startedAt: at(51) });
    const held = run({ state: 'held', attempt: 2, attempts: [ended, claimed] });
    expect(segmentsOf(held, claimed, now).map(({ words }) => words)).toEqual([
      'waited 1.0 s',
      'running for 2.0 s',
    ]);
    const waits = run({ state: 'waiting', attempt: 2, attempts: [ended, again] });
    expect(elapsedOf(waits, Date.parse(at(49)))).toBe('43.0 s');
  });

  test('name the attempt whose log is read: the one that failed, until the next begins', () => {
    const waits = run({ state: 'waiting', attempt: 2, attempts: [failed, attempt({ number: 2 })] });
    expect([attemptWithLog(waits), attemptWithLog(both), attemptWithLog(run({}))]).toEqual([1, 2, 1]);
  });

  test('of one that nobody has claimed are waiting alone, which ends with the run', () => {
    const queued = run({});
    const now = Date.parse(at(9));
    expect(segmentsOf(queued, queued.attempts[0]!, now).map(({ words }) => words)).toEqual([
      'has waited 9.0 s',
    ]);
    const cancelled = run({ state: 'cancelled', endedAt: at(3) });
    expect(segmentsOf(cancelled, cancelled.attempts[0]!, now).map(({ words }) => words)).toEqual([
      'waited 3.0 s',
    ]);
  });

  test('tell how far it is, and how long it may take, as far as its runner says', () => {
    const held = (done: number, total: number | null, unit: string | null) =>
      run({
        state: 'held',
        attempts: [attempt({ startedAt: at(0) })],
        heldBy: {
          instanceId: 'pit-wall-3',
          leaseExpiresAt: at(60),
          phase: null,
          message: null,
          progress: { done, total, unit },
        },
      });
    const now = Date.parse(at(16));
    expect(progressWords(held(16, 40, 'iterations'), now)).toBe('16 of 40 iterations, 40 %, about 24 s left');
    expect(progressWords(held(7, null, 'laps'), now)).toBe('7 laps');
    expect(progressWords(held(41, 40, null), now)).toBe('41 of 40, 100 %');
    expect(progressWords(held(20, 200_000, 'rows'), now)).toBe('20 of 200,000 rows, 0 %');
    expect(progressWords(run({}), now)).toBeNull();
  });

  test('name their runner, unless the platform itself works on them', () => {
    const runner = { instanceId: 'builtin', name: 'built-in', version: null };
    const heldBy = {
      instanceId: 'builtin',
      leaseExpiresAt: at(60),
      phase: null,
      message: null,
      progress: null,
    };
    const begun = attempt({ startedAt: at(0), runner });
    const builtin = run({ state: 'held', runnerType: 'system', attempts: [begun], heldBy });
    expect(outsideRunnerOf(begun, builtin)).toBeNull();
    expect(phaseOf(begun, builtin)).toBe('running');
    const outside = { ...builtin, runnerType: 'lap-tools' };
    expect(outsideRunnerOf(begun, outside)).toBe('built-in');
    expect(phaseOf(begun, outside)).toBe('running on built-in');
  });

  test('name a dashboard as the files of its session do', () => {
    const dashboards = run({ nodeTemplate: 'system-next-dimension' });
    expect(writtenName(dashboards, null)).toBe('Dashboard');
    expect(writtenName(dashboards, 'lap.csv')).toBe('lap.csv');
    expect(writtenName(run({}), null)).toBeNull();
  });

  test('end in a failure that a retry repeats when the input or the configuration is at fault', () => {
    const ended = (category: NodeRunAttempt['category']) =>
      run({ state: 'failed', attempts: [failed, attempt({ number: 2, outcome: 'failed', category })] });
    expect(isHopelessRetry(ended('validation'))).toBe(true);
    expect(isHopelessRetry(ended('error'))).toBe(false);
    expect(isHopelessRetry(both)).toBe(false);
  });
});

describe('a list of runs', () => {
  test('has its view in the address, the shortest for the default', () => {
    const address =
      '/runs?state=failed&template=top-speed&project=4&session=s-1&node=7&from=2026-03-01&page=2';
    const view = readRunView(new URL(address, 'http://console').searchParams);
    expect(runsAddress(view)).toBe(address);
    expect(runQueryOf(view)).toMatchObject({ state: 'failed', template: 'top-speed', projectId: 4, page: 2 });
    expect(runQueryOf(view).from).toBe(new Date(2026, 2, 1).toISOString());
    expect(runQueryOf({ ...view, to: '2026-03-31' }).to).toBe(new Date(2026, 3, 1).toISOString());
    expect(runsAddress(readRunView(new URLSearchParams('state=none&page=-1')))).toBe('/runs');
  });

  test('is grouped by reason only where all have failed', () => {
    const shown = (address: string) =>
      runsAddress(readRunView(new URL(address, 'http://console').searchParams));
    expect(shown('/runs?state=failed&by=reason')).toBe('/runs?state=failed&by=reason');
    expect(shown('/runs?state=done&by=reason')).toBe('/runs?state=done');
  });

  test('has one group for reasons that differ in their numbers alone, the largest first', () => {
    const failedRun = (id: string, sessionId: string, statusDetails: string, retryable = true) =>
      run({ id, sessionId, statusDetails, retryable, state: 'failed' });
    const groups = groupedByReason([
      failedRun('4', 'a', 'error: No disk.'),
      failedRun('3', 'a', 'validation: Line 9 has no time.'),
      failedRun('2', 'b', 'validation: Line 4 has no time.', false),
      failedRun('1', 'b', ''),
    ]);
    expect(
      groups.map(({ text, runs, sessions, retryable }) => [text, runs, sessions, retryable.length]),
    ).toEqual([
      ['Line 9 has no time.', 2, 2, 1],
      ['No disk.', 1, 1, 1],
      ['No reason was given.', 1, 1, 1],
    ]);
  });

  test('takes a part of a name or title for the node template that it fits alone', () => {
    const known = ['lap-splitter', 'lap-splitter-2', 'gpu-cfd-step'];
    const meant = (text: string) => templateMeant(text, known);
    expect(meant('CFD')).toBe('gpu-cfd-step');
    expect(meant('gpu cfd')).toBe('gpu-cfd-step');
    expect(meant('lap')).toBeNull();
    expect(meant('lap-splitter')).toBe('lap-splitter');
    expect(meant('no-longer-there')).toBe('no-longer-there');
    expect(meant('')).toBe('');
  });

  test('keeps its rows in their places when it is read again, and counts what is newer', () => {
    const rows: ShownRun[] = ['id-4', 'id-3', 'id-2'].map((id) => ({ run: run({ id }), isGone: false }));
    const answer = list([run({ id: 'id-5' }), run({ id: 'id-4', state: 'held' }), run({ id: 'id-2' })]);
    const next = refreshed(rows, answer);
    expect(next.newer).toBe(1);
    expect(next.rows.map(({ run: { id, state }, isGone }) => [id, state, isGone])).toEqual([
      ['id-4', 'held', false],
      ['id-3', 'queued', true],
      ['id-2', 'queued', false],
    ]);
    const pushed = refreshed(rows, list([run({ id: 'id-5' }), run({ id: 'id-4' }), run({ id: 'id-3' })], 2));
    expect(pushed.rows.map(({ isGone }) => isGone)).toEqual([false, false, false]);
  });
});

test('nodes whose last run is not among the newest of the session still have their logs', () => {
  const node = (id: number, state: NodeInstanceProgress['state'], parentIds = [1]) => ({
    id,
    state,
    parentIds,
  });
  const nodes = [node(1, 'Succeeded', []), node(2, 'Succeeded'), node(3, 'Failed'), node(4, 'NeverBegan')];
  const newest = [run({ nodeInstanceId: 2 })];
  expect(nodesBefore(nodes, newest)).toEqual([nodes[2]]);
});
