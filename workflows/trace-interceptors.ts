/**
 * Carries the trace of a reconcile's requester through the session's workflow, as a header of Temporal's messages.
 *
 * A session's workflow serves many uploads, one after the other and together, so it is part of no trace as a whole: the
 * reconcile after a signal continues the signal's trace, and nothing else. Runs carry theirs in the database. This code
 * runs inside the workflow sandbox: no clock, no randomness, no SDK, and nothing to do while tracing is off.
 */
import type {
  Headers,
  LocalActivityInput,
  Next,
  WorkflowInterceptorsFactory,
  WorkflowOutboundCallsInterceptor,
} from '@temporalio/workflow';
import { traceHeader } from './contract.ts';

export const interceptors: WorkflowInterceptorsFactory = () => {
  let cause: Headers[string] | undefined;
  const note = (headers: Headers) => {
    cause = headers[traceHeader] ?? cause;
  };
  return {
    inbound: [
      {
        execute(input, next) {
          note(input.headers);
          return next(input);
        },
        handleSignal(input, next) {
          note(input.headers);
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleLocalActivity(
          input: LocalActivityInput,
          next: Next<WorkflowOutboundCallsInterceptor, 'scheduleLocalActivity'>,
        ) {
          if (cause === undefined) return next(input);
          const headers = { ...input.headers, [traceHeader]: cause };
          cause = undefined;
          return next({ ...input, headers });
        },
      },
    ],
  };
};
