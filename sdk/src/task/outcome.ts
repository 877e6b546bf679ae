/** Turns the result or error of the runner's code into a report to the platform. */
import {
  cancelReport,
  type FailureCategory,
  isTaskCancelled,
  isTaskFailure,
  messageOf,
  type TaskCancelled,
} from '../errors.ts';
import { clip } from '../text.ts';
import { checkState } from './node-state.ts';

const reasonCharacters = 4_000;

/**
 * - `completed`: outputs were written; they are published and children run.
 * - `no-output`: nothing to write; staged outputs are dropped, children do not run.
 * - `suspended`: waits for new input or a reprocess; staged outputs are dropped.
 */
export type Outcome = 'completed' | 'no-output' | 'suspended';

export interface Completion<S = unknown> {
  /** Default: `completed` when the run has written an output, else `no-output`. */
  readonly outcome?: Outcome;
  /** Inputs are left: a follow-up task is made. Only for incremental nodes that moved their watermark in this task. */
  readonly hasMore?: boolean;
  /** A sentence for operators. */
  readonly statusDetails?: string;
  /** The node's state from now on. */
  readonly state?: S;
}

/** What a runner's code may return. Nothing is the same as `{}`. */
// biome-ignore lint/suspicious/noConfusingVoidType: code that returns nothing has this type.
export type RunResult<S = unknown> = Outcome | Completion<S> | void;

export type Report =
  | {
      readonly kind: 'complete';
      /** Undefined: chosen by whether the run has written outputs. */
      readonly outcome: Outcome | undefined;
      readonly hasMore: boolean;
      readonly statusDetails: string | undefined;
      readonly state: unknown;
    }
  | {
      readonly kind: 'fail';
      readonly reason: string;
      readonly category: FailureCategory;
      /** The newest log lines, when the log could not be sent. */
      readonly logTail?: string;
    }
  | { readonly kind: 'release'; readonly reason: string; readonly logTail?: string }
  /** The task is no longer held. */
  | { readonly kind: 'none' };

/**
 * @param left further facts of the task: whether a loop left inputs, and state that is not stored yet
 * @throws TypeError, RangeError for a state that the platform would refuse
 */
export function reportOfResult(
  result: RunResult,
  left: { readonly hasMore: boolean; readonly state: unknown },
): Report {
  const completion: Completion = typeof result === 'string' ? { outcome: result } : (result ?? {});
  const { outcome, statusDetails } = completion;
  const state = completion.state ?? left.state;
  if (state !== undefined && state !== null) checkState(state);
  return {
    kind: 'complete',
    outcome,
    hasMore: completion.hasMore ?? left.hasMore,
    statusDetails: statusDetails === undefined ? undefined : clip(statusDetails, reasonCharacters),
    state,
  };
}

/** @param cancelled the reason of the task's signal, if it is aborted */
export function reportOfError(error: unknown, cancelled: TaskCancelled | undefined): Report {
  if (isTaskFailure(error)) return failure(error.category, error);
  // An error after the signal is a consequence of it; a loop over new inputs ends with one of its own at a shutdown.
  const cause = cancelled ?? (isTaskCancelled(error) && error.why === 'shutdown' ? error : undefined);
  switch (cause?.why) {
    case 'shutdown':
      return { kind: 'release', reason: cause.message };
    case 'cancelled':
      return { kind: 'fail', ...cancelReport };
    case 'lease-lost':
    case 'unauthorized':
      return { kind: 'none' };
    case 'ended':
    case undefined:
      return failure(categoryOf(error), error);
  }
}

export function failure(category: FailureCategory, error: unknown): Report {
  return { kind: 'fail', category, reason: clip(messageOf(error), reasonCharacters) };
}

function categoryOf(error: unknown): FailureCategory {
  const { name, code, message } = (error ?? {}) as { name?: string; code?: string; message?: string };
  if (name === 'TimeoutError' || code === 'ETIMEDOUT') return 'timeout';
  if (code === 'ERR_WORKER_OUT_OF_MEMORY' || code === 'ERR_MEMORY_ALLOCATION_FAILED') return 'memory';
  if (name === 'RangeError' && /allocation failed|Invalid (string|array buffer) length/i.test(message ?? ''))
    return 'memory';
  return 'error';
}
