import type { z } from 'zod';
import type { RunProgress } from '../../domain/runs/run-progress.ts';
import { formatTimestamp, formatTimestampOrNull } from '../../domain/timestamp.ts';
import type { NodeRunAttempt, NodeRunRow } from '../../store/runs/node-runs.ts';
import type { nodeRunListSchema, nodeRunSchema, runAttemptSchema } from './schema.ts';

/** One page of runs. */
export function presentRunPage(
  found: { readonly rows: readonly NodeRunRow[]; readonly totalCount: number },
  page: number,
  pageSize: number,
): z.input<typeof nodeRunListSchema> {
  return {
    nodeRuns: found.rows.map(presentNodeRun),
    page,
    pageSize,
    totalCount: found.totalCount,
    totalPages: Math.ceil(found.totalCount / pageSize),
  };
}

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
    endedAt: formatTimestampOrNull(run.endedAt),
    nextAttemptAt: formatTimestampOrNull(run.nextAttemptAt),
    heldBy: run.heldBy && presentHolder(run.heldBy),
    attempts: run.attempts.map((attempt, index) => presentAttempt(attempt, run.attempts[index + 1])),
  };
}

function presentHolder({ leaseExpiresAt, progress, ...holder }: NonNullable<NodeRunRow['heldBy']>) {
  return {
    ...holder,
    leaseExpiresAt: formatTimestamp(leaseExpiresAt),
    progress: presentProgress(progress),
  };
}

export const presentProgress = (progress: RunProgress | null) =>
  progress && { done: progress.done, total: progress.total ?? null, unit: progress.unit ?? null };

function presentAttempt(
  attempt: NodeRunAttempt,
  next: NodeRunAttempt | undefined,
): z.input<typeof runAttemptSchema> {
  return {
    number: attempt.number,
    startedAt: formatTimestampOrNull(attempt.startedAt),
    endedAt: formatTimestampOrNull(attempt.endedAt),
    outcome: attempt.outcome,
    category: attempt.category,
    reason: attempt.details,
    nextAttemptAt: next ? formatTimestamp(next.availableAt) : null,
    runner: attempt.runner,
  };
}
