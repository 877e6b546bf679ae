/** Reports the end of a task to the platform, with repeats. */

import type { TaskCalls } from '../calls/task-calls.ts';
import { ApiError, isEnd, messageOf } from '../errors.ts';
import { failure, type Report } from './outcome.ts';

export type Told =
  | { readonly kind: 'told'; readonly how: 'complete' | 'fail' | 'release'; readonly reply: unknown }
  /** The platform had ended the task before. */
  | { readonly kind: 'too-late'; readonly message: string };

/**
 * Sends a report and repeats it until there is a definite answer. The platform gives the same answer to the same report
 * for ten minutes, so repeats do no harm. A refused result becomes a failure with the reason.
 * @param signal stops the repeats; its reason is thrown
 */
export async function sendReport(calls: TaskCalls, report: Report, signal: AbortSignal): Promise<Told> {
  let next: Report | undefined = report;
  for (;;) {
    try {
      return await send(calls, next, signal);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (isEnd(error) || error.code === 'task_finished') return { kind: 'too-late', message: error.message };
      next = insteadOf(next, error);
      if (next === undefined) throw error;
    }
  }
}

async function send(calls: TaskCalls, report: Report, signal: AbortSignal): Promise<Told> {
  switch (report.kind) {
    case 'none':
      return { kind: 'too-late', message: 'Task not found.' };
    case 'complete': {
      const { kind: how, outcome = 'completed', hasMore, statusDetails, state } = report;
      // The platform accepts the field only for incremental nodes.
      const json = { outcome, statusDetails, state, ...(hasMore ? { hasMore } : {}) };
      return { kind: 'told', how, reply: await calls.end(how, json, signal) };
    }
    case 'fail':
    case 'release': {
      const { kind: how, ...json } = report;
      return { kind: 'told', how, reply: await calls.end(how, json, signal) };
    }
  }
}

/** What to report after a refusal; undefined when nothing is left to say. */
function insteadOf(report: Report, refusal: ApiError): Report | undefined {
  if (report.kind === 'complete' && refusal.code === 'output_missing' && report.outcome === undefined) {
    return { ...report, outcome: 'no-output' };
  }
  if (report.kind === 'complete') {
    return failure('error', new Error(`The result was refused: ${messageOf(refusal)}`));
  }
  if (report.kind === 'fail' && report.reason !== unreadable) {
    return { ...report, reason: unreadable };
  }
  return undefined;
}

const unreadable = 'The reason of the failure could not be reported.';
