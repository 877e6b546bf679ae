import type { z } from 'zod';
import { heartbeatIntervalSeconds } from '../../domain/runs/lease-times.ts';
import { visibleNodeState } from '../../domain/runs/node-state.ts';
import { previewRun } from '../../domain/runs/preview-run.ts';
import { configurationOf } from '../../domain/templates/node-configuration.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import type { NodeOutputRow } from '../../store/outputs/outputs.ts';
import type { DebugNode } from '../../store/run-views/debug-node.ts';
import type { HeldTask } from '../../store/runners/lease.ts';
import type { ClaimedTask } from '../../store/runs/claims.ts';
import type { TaskInput } from '../../store/runs/task-inputs.ts';
import { recordSpan } from '../../telemetry/trace.ts';
import type { inputSchema } from './input-schema.ts';
import type { claimSchema, debugContextSchema, incrementalSchema } from './schema.ts';
import type { writtenOutputSchema } from './task-schema.ts';

/** A task that was just claimed: its time in the queue becomes a span of its trace. */
export function presentClaim(task: ClaimedTask, maxInputsPerTask: number): z.input<typeof claimSchema> {
  return presentTask(task, maxInputsPerTask, traceOf(task));
}

/** A claimed task. @param traceparent the trace that the work on it continues */
export function presentTask(
  task: ClaimedTask,
  maxInputsPerTask: number,
  traceparent: string | null,
): z.input<typeof claimSchema> {
  return {
    taskId: task.taskId,
    runId: task.runId,
    attempt: task.attempt,
    maxAttempts: task.maxAttempts,
    reason: task.attempt > 1 ? 'retry' : task.reason,
    projectId: task.projectId,
    sessionId: task.sessionId,
    sessionName: task.sessionName,
    nodeInstanceId: task.nodeInstanceId,
    nodeName: task.nodeName,
    nodeTemplate: task.nodeTemplate,
    runnerType: task.runnerType,
    configuration: configurationOf(task.configuration),
    parents: [...task.parents],
    claimedAt: formatTimestamp(task.claimedAt),
    leaseExpiresAt: formatTimestamp(task.leaseExpiresAt),
    heartbeatIntervalSeconds: heartbeatIntervalSeconds(task.leaseSeconds),
    incremental: presentIncremental(task, task.pendingInputs, maxInputsPerTask),
    traceparent,
  };
}

/**
 * The trace context for work on the task: its time in the queue is a span of the trace that queued it, the parent of
 * the runner's spans and calls.
 */
function traceOf(task: ClaimedTask): string | null {
  const waitedMs = (task.waitedSeconds ?? 0) * 1000;
  const span = recordSpan(
    `queued ${task.nodeTemplate}`,
    {
      kind: 'producer',
      parent: task.traceparent,
      startTime: new Date(task.claimedAt.getTime() - waitedMs),
      attributes: {
        'sdp.sessionId': task.sessionId,
        'sdp.nodeInstanceId': task.nodeInstanceId,
        'sdp.taskId': task.taskId,
        'sdp.runId': task.runId,
        'sdp.attempt': task.attempt,
      },
    },
    task.claimedAt,
  );
  return span ?? task.traceparent;
}

/** The body of a claim without the fields that only a claim has. */
export function presentDebugContext(
  node: DebugNode,
  incremental: z.input<typeof incrementalSchema>,
): z.input<typeof debugContextSchema> {
  const { run, parents } = node;
  return {
    runId: run?.id ?? null,
    maxAttempts: node.maxAttempts,
    reason: run !== null && run.attempt > 1 ? 'retry' : node.reason,
    projectId: node.projectId,
    sessionId: node.sessionId,
    sessionName: node.sessionName,
    nodeInstanceId: node.nodeInstanceId,
    nodeName: node.nodeName,
    nodeTemplate: node.nodeTemplate,
    runnerType: node.runnerType,
    configuration: configurationOf(node.configuration),
    parents: parents.map(({ nodeInstanceId, name }) => ({ nodeInstanceId, name })),
    incremental,
    nodeState: visibleNodeState(node.storedState, run?.state === 'held'),
    ...previewRun({
      ...node,
      silentParents: parents.filter((parent) => parent.newestPosition === 0).map(({ name }) => name),
    }),
  };
}

export function presentIncremental(
  task: Pick<HeldTask, 'watermarkOutputId'>,
  pendingInputs: number,
  maxInputsPerTask: number,
): z.input<typeof incrementalSchema> {
  return { watermark: task.watermarkOutputId, pendingInputs, maxInputsPerTask };
}

export function presentInput(input: TaskInput): z.input<typeof inputSchema> {
  return {
    outputId: input.outputId,
    nodeInstanceId: input.nodeInstanceId,
    nodeName: input.nodeName,
    outputIdentifier: input.outputIdentifier,
    contentType: input.contentType,
    contentEncoding: input.contentEncoding,
    sizeBytes: input.sizeBytes,
    sha256: input.sha256,
    metadata: input.metadata,
    createdAt: formatTimestamp(input.createdAt),
  };
}

export function presentWrittenOutput(output: NodeOutputRow): z.input<typeof writtenOutputSchema> {
  return {
    outputId: output.id,
    outputIdentifier: output.outputIdentifier,
    sizeBytes: output.sizeBytes,
    sha256: output.sha256,
    createdAt: formatTimestamp(output.createdAt),
  };
}
