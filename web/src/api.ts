/** The routes of the platform that the console uses. Their shapes stand in `api-shapes.ts` and `dashboard-shapes.ts`. */

import type { Project, SessionTemplate } from './admin-shapes.ts';
import type {
  Explanation,
  FoundSessions,
  Lineage,
  NodeOutput,
  NodeRun,
  Session,
  SessionListQuery,
  SessionPage,
} from './api-shapes.ts';
import type {
  CatalogQuery,
  Dashboard,
  DimensionPage,
  Navigation,
  ReportCatalog,
  ReportDefinition,
  ReportFields,
  SeriesReply,
} from './dashboard-shapes.ts';
import { send, sendForJson } from './http.ts';

export type * from './api-shapes.ts';
export type * from './dashboard-shapes.ts';

type Signal = AbortSignal | undefined;

export function listSessions(query: SessionListQuery, signal?: Signal): Promise<SessionPage> {
  const parameters = new URLSearchParams({
    page: String(query.page),
    pageSize: String(query.pageSize),
    sortBy: query.sortBy,
    sortOrder: query.sortOrder,
  });
  if (query.search !== '') parameters.set('search', query.search);
  if (query.projectId !== null) parameters.set('projectId', String(query.projectId));
  if (query.sessionTemplateId !== null) parameters.set('sessionTemplateId', String(query.sessionTemplateId));
  return sendForJson(`/api/v2/session?${parameters}`, { signal });
}

/** @throws {ApiError} 400 with the place of what is wrong with the query. */
export async function querySessions(
  query: { filter: unknown; orderBy: { path: string; direction: string }[]; limit: number; offset: number },
  signal?: Signal,
): Promise<FoundSessions> {
  const { filter, ...rest } = query;
  const body = filter === null ? rest : query;
  const path = '/api/sessions/query';
  return (await sendForJson<{ template: FoundSessions }>(path, { method: 'POST', body, signal })).template;
}

export function listTemplates(signal?: Signal): Promise<SessionTemplate[]> {
  return sendForJson('/api/v2/session/session_templates', { signal });
}

export function listProjects(signal?: Signal): Promise<Project[]> {
  return sendForJson('/projects', { signal });
}

/** The id of the new session. */
export async function createSession(body: {
  Name: string;
  ProjectId: number;
  SessionTemplateId: number;
}): Promise<string> {
  const { Name, ...rest } = body;
  const named = Name === '' ? rest : body;
  return (await sendForJson<{ id: string }>('/session', { method: 'POST', body: named })).id;
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

/** Where operators look at workflows; `url` is null where the platform does not know. */
export function readWorkflowUi(signal?: Signal): Promise<{ url: string | null; namespace: string }> {
  return sendForJson('/api/v2/admin/workflow-ui', { signal });
}

/** @param closeAt ISO 8601; absent: now */
export function closeSession(
  sessionId: string,
  body: { reason: string; closeAt?: string },
): Promise<{ closedAt: string }> {
  return sendForJson(`/api/v2/session/${encodeURIComponent(sessionId)}/close`, { method: 'POST', body });
}

export async function setFrozen(sessionId: string, frozen: boolean): Promise<void> {
  const action = frozen ? 'freeze' : 'unfreeze';
  await send(`/api/v2/sessions/${encodeURIComponent(sessionId)}/${action}`, { method: 'POST' });
}

export async function deleteSession(sessionId: string): Promise<void> {
  await send(`/api/v2/sessions/${encodeURIComponent(sessionId)}`, { method: 'DELETE' });
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

/** One's own by the present one; anybody's as an Administrator. What the user is signed in with elsewhere ends. */
export async function setPassword(
  userId: string,
  body: { newPassword: string; currentPassword?: string; forceChangePasswordNextSignin?: boolean },
): Promise<void> {
  await send(`/api/authorization/users/${encodeURIComponent(userId)}/password`, { method: 'POST', body });
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

/** @throws {ApiError} 400 with column key, position and reason for an expression that is none */
export async function saveReport(key: string | null, body: ReportFields): Promise<void> {
  const path = '/api/v2/dashboard/reports';
  if (key === null) await send(path, { method: 'POST', body });
  else await send(`${path}/${encodeURIComponent(key)}`, { method: 'PUT', body });
}

export function downloadReport(
  key: string,
  format: 'xlsx' | 'csv',
  range: { from: string; to: string },
  signal?: Signal,
): Promise<Response> {
  const parameters = new URLSearchParams({ option: key, format });
  if (range.from !== '') parameters.set('from', range.from);
  if (range.to !== '') parameters.set('to', range.to);
  return send(`/api/v2/dashboard/reports/download?${parameters}`, { headers: { Accept: '*/*' }, signal });
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
