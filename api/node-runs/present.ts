import type { z } from 'zod';
import { formatTimestamp } from '../../domain/timestamp.ts';
import type { NodeRunAttempt, NodeRunRow } from '../../store/runs/node-runs.ts';
import type { nodeRunSchema, runAttemptSchema } from './schema.ts';

const orNull = (date: Date | null) => (date === null ? null : formatTimestamp(date));

export function presentNodeRun(run: NodeRunRow): z.input<typeof nodeRunSchema> {
  return {
    id: run.id,
    projectId: run.projectId,
    sessionId: run.sessionId,
    sessionName: run.sessionName,
    nodeInstanceId: run.nodeInstanceId,
    nodeName: run.nodeName,
    nodeTemplate: run.nodeTemplate,
    runnerType: run.runnerType,
    reason: run.reason,
    state: run.state,
    nodeState: run.nodeState,
    statusDetails: run.statusDetails,
    attempt: run.attempt,
    maxAttempts: run.maxAttempts,
    cancelRequested: run.cancelRequested,
    retryable: run.isRetryable,
    createdAt: formatTimestamp(run.createdAt),
    endedAt: orNull(run.endedAt),
    nextAttemptAt: orNull(run.nextAttemptAt),
    heldBy: run.heldBy && {
      instanceId: run.heldBy.instanceId,
      leaseExpiresAt: formatTimestamp(run.heldBy.leaseExpiresAt),
    },
    attempts: run.attempts.map((attempt, index) => presentAttempt(attempt, run.attempts[index + 1])),
  };
}

function presentAttempt(
  attempt: NodeRunAttempt,
  next: NodeRunAttempt | undefined,
): z.input<typeof runAttemptSchema> {
  return {
    number: attempt.number,
    startedAt: orNull(attempt.startedAt),
    endedAt: orNull(attempt.endedAt),
    outcome: attempt.outcome,
    category: attempt.category,
    reason: attempt.details,
    nextAttemptAt: next ? formatTimestamp(next.availableAt) : null,
  };
}
