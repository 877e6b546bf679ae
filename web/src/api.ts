/** The routes of the platform that the console uses. Their shapes stand in `api-shapes.ts`. */

import type {
  CatalogQuery,
  Dashboard,
  DimensionPage,
  Explanation,
  Lineage,
  Navigation,
  NodeOutput,
  NodeRun,
  ReportCatalog,
  ReportDefinition,
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

/** Opens the session's live events; `lastEventId` goes on where an earlier stream ended. */
export function openSessionEvents(
  sessionId: string,
  lastEventId: string | null,
  signal: AbortSignal,
): Promise<Response> {
  const headers: Record<string, string> = { Accept: 'text/event-stream, application/json' };
  if (lastEventId !== null) headers['Last-Event-ID'] = lastEventId;
  return send(`/api/v2/sessions/${encodeURIComponent(sessionId)}/events`, { headers, signal });
}

export async function setFrozen(sessionId: string, frozen: boolean): Promise<void> {
  const action = frozen ? 'freeze' : 'unfreeze';
  await send(`/api/v2/sessions/${encodeURIComponent(sessionId)}/${action}`, { method: 'POST' });
}

/** How many runs are tried again. */
export async function retryFailed(sessionId: string): Promise<number> {
  const path = `/api/v2/admin/sessions/${encodeURIComponent(sessionId)}/retry-failed`;
  return (await sendForJson<{ retried: number }>(path, { method: 'POST' })).retried;
}

export function explainNode(nodeInstanceId: number, signal?: Signal): Promise<Explanation> {
  return sendForJson(`/api/v2/node-instance/${nodeInstanceId}/explain`, { signal });
}

/** The node's run that was queued last; null when it never had one. */
export async function readLastRun(nodeInstanceId: number, signal?: Signal): Promise<NodeRun | null> {
  const path = `/api/v2/admin/node-runs?nodeInstanceId=${nodeInstanceId}&pageSize=1`;
  return (await sendForJson<{ nodeRuns: NodeRun[] }>(path, { signal })).nodeRuns[0] ?? null;
}

export async function changeRun(runId: string, action: 'retry' | 'cancel'): Promise<void> {
  await send(`/api/v2/admin/node-runs/${encodeURIComponent(runId)}/${action}`, { method: 'POST' });
}

export async function reprocessNode(nodeInstanceId: number): Promise<void> {
  await send(`/api/v2/node-instance/${nodeInstanceId}/reprocess`, { method: 'POST' });
}

export function readLineage(outputId: number, signal?: Signal): Promise<Lineage> {
  return sendForJson(`/api/v2/node-instance/outputs/${outputId}/lineage`, { signal });
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

export function readNavigation(signal?: Signal): Promise<Navigation> {
  return sendForJson('/api/v2/dashboard/navigation', { signal });
}

export function listDimensions(query: CatalogQuery, signal?: Signal): Promise<DimensionPage> {
  const parameters = new URLSearchParams({ pageNumber: String(query.page), orderBy: query.order });
  if (query.from !== '') parameters.set('from', query.from);
  if (query.to !== '') parameters.set('to', query.to);
  return sendForJson(`/api/v2/dashboard/dimensions?${parameters}`, { signal });
}

export function listReports(signal?: Signal): Promise<ReportCatalog> {
  return sendForJson('/api/v2/dashboard/reports/catalog', { signal });
}

export function readReport(key: string, signal?: Signal): Promise<ReportDefinition> {
  return sendForJson(`/api/v2/dashboard/reports/${encodeURIComponent(key)}`, { signal });
}

export function downloadReport(
  key: string,
  format: 'xlsx' | 'csv',
  range: { from: string; to: string },
): Promise<Response> {
  const parameters = new URLSearchParams({ option: key, format });
  if (range.from !== '') parameters.set('from', range.from);
  if (range.to !== '') parameters.set('to', range.to);
  return send(`/api/v2/dashboard/reports/download?${parameters}`, { headers: { Accept: '*/*' } });
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
