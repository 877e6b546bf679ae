/** Reports the end of a task to the platform, with repeats. */

import type { TaskCalls } from '../calls/task-calls.ts';
import type { ClaimWire, NextWire } from '../calls/wire.ts';
import { ApiError, isEnd, messageOf } from '../errors.ts';
import { failure, type Report } from './outcome.ts';

export type ReportResult =
  | {
      readonly kind: 'accepted';
      readonly how: 'complete' | 'fail' | 'release';
      readonly reply: unknown;
      /** The task that was claimed with the end. */
      readonly next: ClaimWire | undefined;
    }
  /** The platform had ended the task before. */
  | { readonly kind: 'too-late'; readonly message: string };

/**
 * Sends a report and repeats it until there is a definite answer. The platform repeats its answer to the same report
 * for ten minutes, so repeats do no harm. A refused result becomes a failure with the reason.
 * @param signal stops the repeats; its reason is thrown
 * @param next claims a task with the end; a repeat gets the task that the instance then holds, and an older platform
 * ignores it
 */
export async function sendReport(
  calls: TaskCalls,
  report: Report,
  signal: AbortSignal,
  next?: NextWire,
): Promise<ReportResult> {
  let wanted: Report | undefined = report;
  for (;;) {
    try {
      return await send(calls, wanted, signal, next);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (isEnd(error) || error.code === 'task_finished') return { kind: 'too-late', message: error.message };
      wanted = insteadOf(wanted, error);
      if (wanted === undefined) throw error;
    }
  }
}

async function send(
  calls: TaskCalls,
  report: Report,
  signal: AbortSignal,
  next: NextWire | undefined,
): Promise<ReportResult> {
  switch (report.kind) {
    case 'none':
      return { kind: 'too-late', message: 'Task not found.' };
    case 'complete': {
      const { kind: how, outcome = 'completed', hasMore, statusDetails, state } = report;
      // The platform accepts the field only for incremental nodes.
      const json = { outcome, statusDetails, state, ...(hasMore ? { hasMore } : {}) };
      return accepted(how, await calls.end(how, { ...json, next }, signal));
    }
    case 'fail':
    case 'release': {
      const { kind: how, ...json } = report;
      return accepted(how, await calls.end(how, { ...json, next }, signal));
    }
  }
}

function accepted(how: 'complete' | 'fail' | 'release', body: unknown): ReportResult {
  const { next, ...reply } = (body ?? {}) as { readonly next?: ClaimWire | null };
  return { kind: 'accepted', how, reply, next: next ?? undefined };
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
    return { kind: 'fail', category: report.category, reason: unreadable };
  }
  return undefined;
}

const unreadable = 'The reason of the failure could not be reported.';
