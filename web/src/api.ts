/** The routes of the platform that the console uses. Their shapes stand in `api-shapes.ts`. */

import type {
  Dashboard,
  NodeOutput,
  Progress,
  SeriesReply,
  Session,
  SessionListQuery,
  SessionPage,
} from './api-shapes.ts';
import { send, sendForJson } from './http.ts';

export type * from './api-shapes.ts';

type Signal = AbortSignal | undefined;

export function listSessions(query: SessionListQuery, signal?: Signal): Promise<SessionPage> {
  const parameters = new URLSearchParams({
    page: String(query.page),
    pageSize: String(query.pageSize),
    sortBy: query.sortBy,
    sortOrder: query.sortOrder,
  });
  if (query.search !== '') parameters.set('search', query.search);
  return sendForJson(`/api/v2/session?${parameters}`, { signal });
}

export function readSession(sessionId: string, signal?: Signal): Promise<Session> {
  return sendForJson(`/api/v2/sessions/${encodeURIComponent(sessionId)}`, { signal });
}

export function readProgress(sessionId: string, signal?: Signal): Promise<Progress> {
  return sendForJson(`/api/v2/session/${encodeURIComponent(sessionId)}/node-instances`, { signal });
}

/** @throws {ApiError} 404 also when the node has no outputs yet. */
export function listOutputs(nodeInstanceId: number, signal?: Signal): Promise<NodeOutput[]> {
  return sendForJson(`/api/v2/node-instance/${nodeInstanceId}/outputs`, { signal });
}

export function readOutputData(outputId: number, signal?: Signal): Promise<Response> {
  return send(`/api/v2/node-instance/outputs/${outputId}/data`, { signal });
}

export function uploadPath(nodeInstanceId: number): string {
  return `/api/v2/node-instance/${nodeInstanceId}/outputs/data`;
}

export function readDashboard(dimensionId: string, signal?: Signal): Promise<Dashboard> {
  return sendForJson(`/api/v2/dashboard/dimensions/${encodeURIComponent(dimensionId)}`, { signal });
}

/** Min/max-preserving points of `channelKeys` between two times (milliseconds since 1970). */
export function readSeries(
  dimensionId: string,
  channelKeys: string[],
  fromMs: number,
  toMs: number,
  maxPoints: number,
  signal?: Signal,
): Promise<SeriesReply> {
  const channels = channelKeys.map(encodeURIComponent).join(',');
  const from = encodeURIComponent(new Date(fromMs).toISOString());
  const to = encodeURIComponent(new Date(toMs).toISOString());
  return sendForJson(
    `/api/v2/dashboard/dimensions/${encodeURIComponent(dimensionId)}/series` +
      `?channels=${channels}&from=${from}&to=${to}&maxPoints=${maxPoints}`,
    { signal },
  );
}
