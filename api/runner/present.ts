import type { z } from 'zod';
import { isJsonObject, type JsonObject } from '../../domain/text.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import type { ClaimedTask } from '../../store/claims.ts';
import type { NodeOutputRow } from '../../store/outputs.ts';
import type { HeldTask, TaskInput } from '../../store/task-reads.ts';
import type { claimSchema, incrementalSchema, inputSchema, writtenOutputSchema } from './schema.ts';

/** Heartbeats come three times a lease. */
export function heartbeatIntervalSeconds(leaseSeconds: number): number {
  return Math.max(1, Math.floor(leaseSeconds / 3));
}

export function presentClaim(task: ClaimedTask, maxInputsPerTask: number): z.input<typeof claimSchema> {
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
    incremental: {
      watermark: task.watermarkOutputId,
      pendingInputs: task.pendingInputs,
      maxInputsPerTask,
    },
  };
}

/** Templates are imported with objects only; anything else must not keep the node from being claimed. */
function configurationOf(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

export function presentIncremental(
  task: HeldTask,
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
