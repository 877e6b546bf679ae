/** Activities as spans of the trace that caused them; those without a trace have no span. */
import type { Context } from '@temporalio/activity';
import { defaultPayloadConverter } from '@temporalio/common';
import type { ActivityExecuteInput, ActivityInterceptors } from '@temporalio/worker';
import { isTracing, traced } from '../telemetry/trace.ts';
import { traceHeader } from '../workflows/contract.ts';

export function traceActivities({ info }: Context): ActivityInterceptors {
  return {
    inbound: {
      async execute(input, next) {
        const parent = isTracing() ? parentOf(input) : undefined;
        if (parent === undefined) return await next(input);
        const attributes = {
          'temporal.workflow.id': info.workflowExecution?.workflowId ?? '',
          'temporal.activity.attempt': info.attempt,
        };
        const options = { kind: 'consumer', parent, attributes } as const;
        return await traced(`activity ${info.activityType}`, options, () => next(input));
      },
    },
  };
}

function parentOf({ headers }: ActivityExecuteInput): string | undefined {
  const payload = headers[traceHeader];
  const value: unknown = payload && defaultPayloadConverter.fromPayload(payload);
  return typeof value === 'string' ? value : undefined;
}
