/** Error classes that a runner can distinguish. */

import { inspect } from 'node:util';
import type { ApiError } from '../../client/errors.ts';

export { ApiError, NetworkError } from '../../client/errors.ts';

const categories = ['error', 'validation', 'memory', 'timeout'] as const;

/**
 * - `error`, `memory`, `timeout`: the platform tries the run again, up to the node template's `maxAttempts`.
 * - `validation`: the input or the configuration is wrong; never tried again.
 */
export type FailureCategory = (typeof categories)[number];

/** Thrown by a runner to say how its task failed. The reason is shown to operators as `<category>: <reason>`. */
export class TaskFailure extends Error {
  readonly category: FailureCategory;

  constructor(category: FailureCategory, reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'TaskFailure';
    this.category = category;
  }
}

/**
 * - `cancelled`: an operator cancelled the run.
 * - `lease-lost`: the task is no longer held (claimed by another runner, timed out, or its session deleted).
 * - `unauthorized`: the token was revoked, or its rights were withdrawn.
 * - `shutdown`: this process is asked to end; the task is released and no attempt is counted.
 * - `ended`: the task's code has returned or thrown. `task.signal` never has this reason; calls and streams that the
 *   code left behind have it.
 */
export type CancelReason = 'cancelled' | 'lease-lost' | 'unauthorized' | 'shutdown' | 'ended';

/** The reason of `task.signal`; every call for the task rejects with it from then on. Its name is `AbortError`. */
export class TaskCancelled extends Error {
  readonly why: CancelReason;

  constructor(why: CancelReason, options?: ErrorOptions) {
    super(sentences[why], options);
    this.name = 'AbortError';
    this.why = why;
  }
}

const sentences: Readonly<Record<CancelReason, string>> = {
  cancelled: 'The run was cancelled.',
  'lease-lost': 'The task is no longer held.',
  unauthorized: 'The token is no longer valid.',
  shutdown: 'The runner is shutting down.',
  ended: 'The task has ended.',
};

/** The report of a cancelled task: the platform records every report of it as cancelled. */
export const cancelReport = { category: 'error', reason: 'cancelled' } as const;

/** The message of any thrown value, with its cause. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return textOf(error);
  const message = textOf(error.message || error.name);
  const cause = error.cause instanceof Error ? error.cause.message : '';
  return cause === '' || message.includes(cause) ? message : `${message} (${cause})`;
}

/** What the runner's code threw; another error in place of one whose own getters throw. */
export function readable(thrown: unknown): unknown {
  try {
    inspect(thrown);
    // Whatever the kit reads.
    if (thrown instanceof Error)
      void [messageOf(thrown), thrown.stack, isTaskFailure(thrown), isTaskCancelled(thrown)];
    return thrown;
  } catch {
    return new Error('The error that was thrown cannot be read.');
  }
}

function textOf(thrown: unknown): string {
  try {
    const text = String(thrown);
    return text.startsWith('[object ') ? inspect(thrown, { breakLength: Number.POSITIVE_INFINITY }) : text;
  } catch {
    return 'The error has no text.';
  }
}

/** Whether the error is a {@link TaskFailure}, also of another copy of this package, which a runner may include. */
export function isTaskFailure(error: unknown): error is TaskFailure {
  const { name, category } = (error ?? {}) as Partial<TaskFailure>;
  return error instanceof Error && name === 'TaskFailure' && categories.some((known) => known === category);
}

/** Whether the error is a {@link TaskCancelled}, also of another copy of this package. */
export function isTaskCancelled(error: unknown): error is TaskCancelled {
  const { name, why } = (error ?? {}) as Partial<TaskCancelled>;
  return (
    error instanceof Error && name === 'AbortError' && why !== undefined && Object.hasOwn(sentences, why)
  );
}

/** True for answers after which a task is no longer held. */
export function isEnd(error: ApiError): boolean {
  return error.status === 401 || error.status === 403 || error.code === 'task_not_found';
}
