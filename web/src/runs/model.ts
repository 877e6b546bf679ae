/** Runs as people read them. Pure: tested without a browser. */

import type { NodeInstanceProgress, NodeRun, NodeRunAttempt } from '../../../client/types.ts';
import { formatCount, formatDuration } from '../format.ts';
import { runnerTitle } from '../names.ts';

export function isOpenRun({ state }: Pick<NodeRun, 'state'>): boolean {
  return state === 'queued' || state === 'held' || state === 'waiting';
}

const outcomes: Record<string, string> = {
  completed: 'done',
  'no-output': 'done without output',
  suspended: 'suspended',
  failed: 'failed',
  lost: 'lost: its runner stopped answering',
  cancelled: 'cancelled',
};

/** The outcome of an attempt, or what it is doing. */
export function phaseOf(attempt: NodeRunAttempt, run: NodeRun): string {
  if (attempt.outcome !== null) return outcomes[attempt.outcome] ?? attempt.outcome;
  if (attempt.startedAt === null) return run.state === 'waiting' ? 'waits' : 'queued';
  if (run.heldBy === null) return 'started';
  const by = outsideRunnerOf(attempt, run);
  return by === null ? 'running' : `running on ${by}`;
}

/** The runner that works or worked on an attempt; null where the platform itself did. */
export function outsideRunnerOf(attempt: NodeRunAttempt, { runnerType, heldBy }: NodeRun): string | null {
  if (runnerType === 'system') return null;
  return runnerOf(attempt) ?? (heldBy === null ? null : runnerTitle(heldBy.instanceId));
}

/** The last attempt that began: while the next one waits, what is read is why that one failed. */
export const attemptWithLog = ({ attempts, attempt }: Pick<NodeRun, 'attempts' | 'attempt'>) =>
  attempts.findLast(({ startedAt }) => startedAt !== null)?.number ?? attempt;

/** `validation: Line 4 has no time.` */
export function reasonOf({ category, reason }: NodeRunAttempt): string {
  return [category, reason].filter((text) => text !== null && text !== '').join(': ');
}

/** The runner of an attempt, with its version. */
function runnerOf({ runner }: NodeRunAttempt): string | null {
  if (runner === null) return null;
  const name = runnerTitle(runner.instanceId, runner.name);
  return runner.version === null || runner.version === '' ? name : `${name} (${runner.version})`;
}

/** The same inputs would fail again: something has to be changed first. */
export function isHopelessRetry(run: NodeRun): boolean {
  return run.state === 'failed' && run.attempts.at(-1)?.category === 'validation';
}

/** How long its runners worked on a run that has ended; how long an open one has been in its state. */
export function elapsedOf(run: NodeRun, nowMs: number): string {
  const last = run.attempts.at(-1);
  // A runner may have held it and released it since.
  if (run.state === 'queued' && last !== undefined)
    return formatDuration(Math.max(0, nowMs - waitsSinceMs(run, last, nowMs)));
  const all = run.attempts.flatMap((attempt) => segmentsOf(run, attempt, nowMs));
  const worked = all.filter(({ kind }) => kind !== 'waiting');
  const counted = run.endedAt === null ? all.slice(-1) : worked.length > 0 ? worked : all;
  return formatDuration(counted.reduce((sum, { fromMs, toMs }) => sum + Math.max(0, toMs - fromMs), 0));
}

/** A time that is still to come: `24 s`, `4 min 10 s`. Tenths of a second would be guessed. */
export function formatRest(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 60 ? `${seconds} s` : formatDuration(seconds * 1000);
}

/** `16 of 40 iterations, 40 %, about 24 s left`; null without progress. */
export function progressWords(run: NodeRun, nowMs: number): string | null {
  const progress = run.heldBy?.progress ?? null;
  if (progress === null) return null;
  const { done, total, unit } = progress;
  const counted = [
    formatCount(done),
    ...(total === null ? [] : ['of', formatCount(total)]),
    ...(unit ? [unit] : []),
  ];
  if (total === null || total <= 0) return counted.join(' ');
  const share = Math.min(1, done / total);
  const startedAt = run.attempts.at(-1)?.startedAt ?? null;
  const words = [counted.join(' '), `${Math.floor(share * 100)} %`];
  if (startedAt !== null && share > 0.02 && share < 1) {
    const leftMs = ((nowMs - Date.parse(startedAt)) * (1 - share)) / share;
    if (leftMs >= 1000) words.push(`about ${formatRest(leftMs)} left`);
  }
  return words.join(', ');
}

/** The nodes that have run, but not among these runs, as in a session with many. Inputs have no runs. */
export function nodesBefore<Node extends Pick<NodeInstanceProgress, 'id' | 'parentIds' | 'state'>>(
  nodes: readonly Node[],
  runs: readonly Pick<NodeRun, 'nodeInstanceId'>[],
): Node[] {
  const known = new Set(runs.map(({ nodeInstanceId }) => nodeInstanceId));
  return nodes.filter(
    ({ id, parentIds, state }) => parentIds.length > 0 && state !== 'NeverBegan' && !known.has(id),
  );
}

export interface Segment {
  readonly kind: 'waiting' | 'held' | 'done' | 'failed';
  readonly fromMs: number;
  readonly toMs: number;
  /** `waited 2 s`, `running for 16 s`. */
  readonly words: string;
}

/**
 * Since when an attempt waits: since it may be claimed, which a person who retried the run may have allowed hours after the
 * end of the one before. Until then it waits for that time.
 */
function waitsSinceMs(run: NodeRun, { number }: NodeRunAttempt, nowMs: number): number {
  const { attempts, createdAt, state } = run;
  const before = attempts.find((one) => one.number === number - 1);
  const claimableMs = Date.parse(before?.nextAttemptAt ?? before?.endedAt ?? createdAt);
  // Once queued it may be claimed, also where the browser's clock is behind.
  return state === 'waiting' && claimableMs > nowMs ? Date.parse(before?.endedAt ?? createdAt) : claimableMs;
}

/** The time of an attempt: until its claim, and from then to its end. */
export function segmentsOf(run: NodeRun, attempt: NodeRunAttempt, nowMs: number): Segment[] {
  const queuedMs = waitsSinceMs(run, attempt, nowMs);
  const isLast = attempt.number === run.attempts.at(-1)?.number;
  const closedMs = run.endedAt === null || !isLast ? nowMs : Date.parse(run.endedAt);
  const startedMs = attempt.startedAt === null ? null : Date.parse(attempt.startedAt);
  const endedMs = attempt.endedAt === null ? closedMs : Date.parse(attempt.endedAt);
  const waitedMs = Math.max(queuedMs, startedMs ?? endedMs);
  const took = (from: number, to: number) => formatDuration(Math.max(0, to - from));
  const isOver = attempt.endedAt !== null || run.endedAt !== null;
  const segments: Segment[] = [
    {
      kind: 'waiting',
      fromMs: queuedMs,
      toMs: waitedMs,
      words: `${startedMs === null && !isOver ? 'has waited' : 'waited'} ${took(queuedMs, waitedMs)}`,
    },
  ];
  if (startedMs === null) return segments;
  const isBad = attempt.outcome === 'failed' || attempt.outcome === 'lost' || attempt.outcome === 'cancelled';
  const kind = attempt.outcome === null ? 'held' : isBad ? 'failed' : 'done';
  const verb = attempt.outcome === null ? 'running for' : 'took';
  segments.push({ kind, fromMs: startedMs, toMs: endedMs, words: `${verb} ${took(startedMs, endedMs)}` });
  return segments;
}
