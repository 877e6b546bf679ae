/** The routes of runs, of their logs, and of the configurations of nodes. */

import type { Query } from '../../../client/api-client.ts';
import type {
  NodeConfiguration,
  NodeConfigurationRevisions,
  NodeConfigurationSchema,
  NodeRun,
  NodeRunDetails,
  NodeRunList,
} from '../../../client/types.ts';
import { platform } from '../http.ts';
import type { RunQuery } from './list-model.ts';

export type * from '../../../client/types.ts';

export type LogQuery = Query<'GET /api/v2/node-runs/{runId}/logs'>;

/** The last made first. */
export function listRuns(query: RunQuery, signal: AbortSignal): Promise<NodeRunList> {
  return platform.call('GET /api/v2/node-runs', { query, signal });
}

export function readRun(runId: string, signal: AbortSignal): Promise<NodeRunDetails> {
  return platform.call('GET /api/v2/node-runs/{runId}', { params: { runId }, signal });
}

/** The node's most recently queued run; null when it has none. */
export async function readLastRun(nodeInstanceId: number, signal: AbortSignal): Promise<NodeRun | null> {
  return (await listRuns({ nodeInstanceId, pageSize: 1 }, signal)).nodeRuns[0] ?? null;
}

export async function changeRun(runId: string, action: 'retry' | 'cancel'): Promise<void> {
  await platform.call(`POST /api/v2/admin/node-runs/{id}/${action}`, { params: { id: runId } });
}

/** The lines of a run's log as server-sent events, until the run ends. */
export function openLog(
  runId: string,
  query: LogQuery,
  lastEventId: string | null,
  signal: AbortSignal,
): Promise<Response> {
  return platform.open('GET /api/v2/node-runs/{runId}/logs', {
    params: { runId },
    query,
    headers: {
      accept: 'text/event-stream, application/json',
      ...(lastEventId === null ? {} : { 'last-event-id': lastEventId }),
    },
    signal,
  });
}

export function readConfiguration(nodeInstanceId: number, signal: AbortSignal): Promise<NodeConfiguration> {
  const params = { nodeInstanceId };
  return platform.call('GET /api/v2/node-instance/{nodeInstanceId}/configuration', { params, signal });
}

export function readConfigurationSchema(
  nodeInstanceId: number,
  signal: AbortSignal,
): Promise<NodeConfigurationSchema> {
  return platform.call('GET /api/v2/node-instance/{nodeInstanceId}/configuration/schema', {
    params: { nodeInstanceId },
    signal,
  });
}

/** The newest ones, newest first. */
export function listRevisions(
  nodeInstanceId: number,
  signal: AbortSignal,
): Promise<NodeConfigurationRevisions> {
  return platform.call('GET /api/v2/node-instance/{nodeInstanceId}/configuration/revisions', {
    params: { nodeInstanceId },
    signal,
  });
}

/**
 * For every run that is not yet claimed, and all later ones.
 * @param revision the one that was changed
 * @param rerun reprocess the node, in the same transaction
 * @throws {ApiError} 412 when another change came between, 400 with the places that the schema refuses
 */
export function saveConfiguration(
  nodeInstanceId: number,
  revision: number,
  configuration: NodeConfiguration['configuration'],
  rerun: boolean,
): Promise<NodeConfiguration> {
  return platform.call('PUT /api/v2/node-instance/{nodeInstanceId}/configuration', {
    params: { nodeInstanceId },
    headers: { 'if-match': `"${revision}"` },
    body: rerun ? { configuration, rerun } : { configuration },
  });
}
