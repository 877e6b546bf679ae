/**
 * What happens to runs, decided from facts alone. The store reads the facts under the session's lock and writes what
 * these functions answer; the workflow only makes sure that they are called.
 *
 * A run (one execution of a node) is
 *   queued   may be claimed            -> held | done (cancelled)
 *   held     a claim has a live lease  -> done | waiting | queued (lease lost, released)
 *   waiting  due at a time             -> queued
 *   done     ended for good
 * A node has at most one run that is not done.
 */
import type { NodeState } from './node-state.ts';

export const openRunStates = ['queued', 'held', 'waiting'] as const;
export type OpenRunState = (typeof openRunStates)[number];
export type RunState = OpenRunState | 'done';
export const runReasons = ['input', 'reprocess', 'follow-up'] as const;
export type RunReason = (typeof runReasons)[number];
export const failureCategories = ['error', 'validation', 'memory', 'timeout'] as const;
export type FailureCategory = (typeof failureCategories)[number];
export const completeOutcomes = ['completed', 'no-output', 'suspended'] as const;
export type CompleteOutcome = (typeof completeOutcomes)[number];

/** What planning needs to know of one node. Positions count publications of the session, 0 means none. */
export interface NodeFacts {
  /** Input nodes accept uploads and never run. */
  readonly isInput: boolean;
  readonly trigger: 'all' | 'any';
  /** The newest published position of each parent, 0 where it has none. */
  readonly parentPositions: readonly number[];
  readonly consumedPosition: number;
  readonly hasOpenRun: boolean;
  readonly followUpWanted: boolean;
  readonly reprocessWanted: boolean;
}

/** The reason for which the node gets a run now, or undefined when it gets none (decisions, section 7). */
export function reasonToRun(node: NodeFacts): RunReason | undefined {
  if (node.isInput || node.hasOpenRun) return undefined;
  if (node.followUpWanted) return 'follow-up';
  if (!hasInputs(node)) return undefined;
  // Before `input`, because a reprocess also covers new inputs.
  if (node.reprocessWanted) return 'reprocess';
  return Math.max(...node.parentPositions) > node.consumedPosition ? 'input' : undefined;
}

/** Whether there is anything to run on. */
export function hasInputs({
  trigger,
  parentPositions,
}: Pick<NodeFacts, 'trigger' | 'parentPositions'>): boolean {
  const silent = parentPositions.filter((position) => position === 0).length;
  return parentPositions.length > 0 && !waitsForParents(trigger, silent, parentPositions.length);
}

/** Whether parents keep a node from running: all of them must have an output, or one, by its trigger. */
export function waitsForParents(trigger: 'all' | 'any', silent: number, parents: number): boolean {
  return trigger === 'all' ? silent > 0 : silent === parents;
}

/** Why an attempt failed, for its own record; a run that waits says more in its `statusDetails`. */
export interface AttemptFailure {
  readonly category: FailureCategory;
  readonly reason: string;
}

/** How an attempt ended, and what follows. */
export type AttemptEnd =
  | {
      readonly kind: 'done';
      readonly outcome: RunOutcome;
      readonly nodeState: NodeState;
      readonly statusDetails: string;
      readonly failure?: AttemptFailure;
    }
  | {
      readonly kind: 'retry';
      /** The outcome of the attempt; its run goes on. */
      readonly outcome: 'failed' | 'lost';
      readonly delayMs: number;
      readonly statusDetails: string;
      readonly failure: AttemptFailure;
    };

export type RunOutcome = CompleteOutcome | 'failed' | 'cancelled';

/** What ends an attempt: the runner's report, or the loss of its lease. */
export type AttemptReport =
  | {
      readonly kind: 'complete';
      readonly outcome: CompleteOutcome;
      readonly statusDetails?: string | undefined;
    }
  | { readonly kind: 'fail'; readonly category: FailureCategory; readonly reason: string }
  | {
      readonly kind: 'lost';
      /** Absent: nothing is known but that no call came. */
      readonly reason?: string | null;
    };

/** The facts of a run that decide what the end of its attempt means. */
export interface RunFacts {
  readonly attempt: number;
  readonly maxAttempts: number;
  /** The attempt from which the back-off counts: 1, or the first since an operator had the run tried again. */
  readonly firstAttempt: number;
  /** Leases that this run has lost before. */
  readonly lostCount: number;
  readonly cancelRequested: boolean;
}

const retryFirstDelayMs = 5_000;
const retryMaxDelayMs = 300_000;
const maxLostLeases = 3;

/**
 * Decides what the end of an attempt means (decisions, section 7).
 * @param jitter a random number in [0, 1): spreads retries over the upper half of their delay
 */
export function endAttempt(run: RunFacts, report: AttemptReport, jitter: number): AttemptEnd {
  if (run.cancelRequested) return cancelled;
  switch (report.kind) {
    case 'complete':
      return completed(report.outcome, report.statusDetails);
    case 'lost': {
      const failure = { ...leaseLost, reason: report.reason ?? leaseLost.reason };
      return run.lostCount + 1 >= maxLostLeases || run.attempt >= run.maxAttempts
        ? failedWith(failure)
        : retryAfter(0, run, 'lost', failure);
    }
    case 'fail': {
      const failure = { category: report.category, reason: report.reason };
      return report.category === 'validation' || run.attempt >= run.maxAttempts
        ? failedWith(failure)
        : retryAfter(retryDelayMs(run.attempt - run.firstAttempt + 1, jitter), run, 'failed', failure);
    }
  }
}

const leaseLost: AttemptFailure = {
  category: 'timeout',
  reason: 'The lease ended without a call from the runner.',
};

/** Why a lease was lost whose instance claimed again. */
export const claimedAgain =
  'The runner claimed again under the same instance id: it was started again, or two processes have one id.';

/** Exponential back-off after the given number of attempts: 5 s, 10 s, 20 s ... at most 5 minutes, jittered downwards by up to half. */
export function retryDelayMs(attempt: number, jitter: number): number {
  const full = Math.min(retryMaxDelayMs, retryFirstDelayMs * 2 ** (attempt - 1));
  return Math.round(full * (1 - jitter / 2));
}

/** How long a released run waits before it may be claimed again: nothing twice, then 1, 2, 4 ... 60 seconds. */
export function releaseDelayMs(releaseCount: number): number {
  return releaseCount < 3 ? 0 : Math.min(60_000, 1_000 * 2 ** (releaseCount - 3));
}

/** Whether a `hasMore` makes a follow-up run, and why not (decisions, section 9). */
export function followUpDecision(request: {
  readonly hasMore: boolean;
  readonly outcome: CompleteOutcome;
  readonly watermarkMoved: boolean;
}): { readonly followUp: boolean; readonly why?: string } {
  if (!request.hasMore) return { followUp: false };
  if (request.outcome === 'suspended')
    return { followUp: false, why: 'No follow-up: the node is suspended.' };
  if (!request.watermarkMoved) {
    return { followUp: false, why: 'No follow-up: the watermark did not move in this task.' };
  }
  return { followUp: true };
}

function completed(outcome: CompleteOutcome, statusDetails: string | undefined): AttemptEnd {
  switch (outcome) {
    case 'completed':
      return { kind: 'done', outcome, nodeState: 'Succeeded', statusDetails: statusDetails ?? '' };
    case 'no-output':
      return {
        kind: 'done',
        outcome,
        nodeState: 'Succeeded',
        statusDetails: statusDetails || 'Finished without an output.',
      };
    case 'suspended':
      return { kind: 'done', outcome, nodeState: 'Suspended', statusDetails: statusDetails ?? '' };
  }
}

type Done = Extract<AttemptEnd, { kind: 'done' }>;

/** The outcome of a cancelled run, whatever its holder reports. */
export const cancelled: Done = {
  kind: 'done',
  outcome: 'cancelled',
  nodeState: 'Failed',
  statusDetails: 'cancelled',
};

/** The outcome of a run that is not tried again. */
export function failedWith(failure: AttemptFailure): Done {
  const statusDetails = describeFailure(failure);
  return { kind: 'done', outcome: 'failed', nodeState: 'Failed', statusDetails, failure };
}

/** Runners may leave the reason empty, as errors without a message do. */
export const describeFailure = ({ category, reason }: AttemptFailure) =>
  reason.trim() === '' ? category : `${category}: ${reason}`;

function retryAfter(
  delayMs: number,
  run: RunFacts,
  outcome: 'failed' | 'lost',
  failure: AttemptFailure,
): AttemptEnd {
  const statusDetails = `Attempt ${run.attempt} of ${run.maxAttempts} failed, waiting for the next: ${describeFailure(failure)}`;
  return { kind: 'retry', outcome, delayMs, statusDetails, failure };
}

/** The facts that decide an operator's request about a run. */
export interface OperatedRun {
  readonly state: RunState;
  /** Null while the run is open. */
  readonly outcome: RunOutcome | null;
  readonly cancelRequested: boolean;
  /** No run of the node was queued after it. */
  readonly isNewest: boolean;
  /** An operator had it tried again before. */
  readonly wasRetried: boolean;
}

export type RetryVerdict = 'retry' | 'retried-already' | 'open' | 'not-failed' | 'superseded';

/**
 * The answer to an operator's request to retry a run. A run that failed or was cancelled may be retried, as long as no
 * later run of its node has covered the same inputs and more. A repeat of the request changes nothing.
 */
export function retryVerdict(run: OperatedRun): RetryVerdict {
  if (run.state !== 'done') return run.wasRetried && !run.cancelRequested ? 'retried-already' : 'open';
  if (run.outcome !== 'failed' && run.outcome !== 'cancelled') return 'not-failed';
  return run.isNewest ? 'retry' : 'superseded';
}

export type CancelVerdict = 'end' | 'notify-holder' | 'cancelled-already' | 'ended';

/** The answer to an operator's request to cancel a run: one without a holder ends at once. */
export function cancelVerdict(run: Pick<OperatedRun, 'state' | 'outcome'>): CancelVerdict {
  if (run.state === 'done') return run.outcome === 'cancelled' ? 'cancelled-already' : 'ended';
  return run.state === 'held' ? 'notify-holder' : 'end';
}
