/** One run as `sdp runs show` prints it. */
import type { NodeRun, NodeRunAttempt, NodeRunDetails, RunLogEntry } from '../../client/types.ts';
import { bytes, type Columns, facts, table, time } from '../output.ts';
import type { PlatformClient } from '../platform-client.ts';
import { logLine, readLog } from './run-log.ts';

/** The first error in the log of the last attempt that was claimed. */
export async function firstError(
  platform: PlatformClient,
  { id, attempts }: NodeRunDetails,
): Promise<RunLogEntry | undefined> {
  const attempt = attempts.findLast(({ startedAt }) => startedAt !== null)?.number;
  for await (const entry of readLog(platform, id, { level: 'error', attempt })) return entry;
  return undefined;
}

export function runText(run: NodeRunDetails, error: RunLogEntry | undefined): string {
  const parts = [
    facts({
      Run: run.id,
      Node: `${run.nodeName} (${run.nodeInstanceId}) of session ${run.sessionName} (${run.sessionId})`,
      Template: `${run.nodeTemplate}, runner type ${run.runnerType}`,
      State: stateText(run),
      Reason: run.reason,
      Created: time(run.createdAt),
      Ended: time(run.endedAt),
      'Held by': run.heldBy?.instanceId,
      Progress: run.heldBy?.progress && progressText(run.heldBy.progress),
      Retryable: run.retryable,
      Configuration: `revision ${run.configurationRevision}: ${JSON.stringify(run.configuration)}`,
    }),
    listed(run.attempts, attemptColumns),
    listed(run.inputs, {
      INPUT: ({ outputId }) => outputId,
      NODE: ({ nodeName }) => nodeName,
      FILE: ({ fileName, outputIdentifier }) => fileName ?? outputIdentifier,
      SIZE: ({ sizeBytes }) => bytes(sizeBytes),
      'SHA-256': ({ sha256 }) => sha256?.slice(0, 12),
    }),
    run.inputsRemoved > 0
      ? `Inputs removed since (by retention, or by newer bytes): ${run.inputsRemoved}`
      : '',
    listed(run.outputs, {
      OUTPUT: ({ outputId }) => outputId,
      IDENTIFIER: ({ outputIdentifier }) => outputIdentifier,
      TYPE: ({ contentType }) => contentType,
      SIZE: ({ sizeBytes }) => bytes(sizeBytes),
      PUBLISHED: ({ published }) => published,
    }),
    listed(run.actions, {
      ACTION: ({ action }) => action,
      BY: ({ userId, name }) => name ?? userId,
      AT: ({ at }) => time(at),
    }),
    error === undefined ? '' : `First error of the log:\n${logLine(error)}`,
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

/** A cancelled run says who cancelled it: the details repeat the word. */
function stateText({ state, statusDetails, actions }: NodeRunDetails): string {
  const cancel = state === 'cancelled' ? actions.findLast(({ action }) => action === 'cancel') : undefined;
  const by = cancel === undefined ? '' : ` by ${cancel.name ?? cancel.userId} at ${time(cancel.at)}`;
  return `${state}${by}${statusDetails && statusDetails !== state ? `: ${statusDetails}` : ''}`;
}

function progressText({
  done,
  total,
  unit,
}: NonNullable<NonNullable<NodeRun['heldBy']>['progress']>): string {
  return [done, ...(total === null ? [] : ['of', total]), ...(unit ? [unit] : [])].join(' ');
}

const attemptColumns: Columns<NodeRunAttempt> = {
  ATTEMPT: ({ number }) => number,
  OUTCOME: ({ outcome }) => outcome,
  RUNNER: ({ runner }) =>
    runner && [runner.instanceId, runner.name && `(${runner.name})`].filter(Boolean).join(' '),
  VERSION: ({ runner }) => runner?.version,
  STARTED: ({ startedAt }) => time(startedAt),
  ENDED: ({ endedAt }) => time(endedAt),
  REASON: ({ category, reason }) => [category, reason].filter(Boolean).join(': '),
};

function listed<Row>(rows: readonly Row[], columns: Columns<Row>): string {
  return rows.length === 0 ? '' : table(rows, columns);
}
