/**
 * Carries the trace of whoever had a session looked at through its workflow, as a header of Temporal's messages.
 *
 * A session's workflow serves many uploads, one after the other and together, so it is part of no trace as a whole: the
 * look that follows a signal goes on with the signal's trace, and with nothing else. Runs carry theirs in the database.
 * Runs inside the workflow sandbox: no clock, no chance, no SDK, and nothing to do where nothing is traced.
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
