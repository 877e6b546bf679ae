/** The routes of the platform that the console uses. */

import { filled, type Query } from '../../client/api-client.ts';
import type {
  Dashboard,
  DimensionCatalog,
  NavigationSections,
  NewReport,
  NodeExplanation,
  NodeOutput,
  NodeRun,
  OutputLineage,
  PasswordChange,
  Project,
  Report,
  ReportCatalog,
  SeriesReply,
  Session,
  SessionList,
  SessionQueryReply,
  SessionQueryRequest,
  SessionTemplate,
  WorkflowUi,
} from '../../client/types.ts';
import { platform } from './http.ts';

export type * from '../../client/types.ts';

type Signal = AbortSignal | undefined;
export type FoundSessions = SessionQueryReply['template'];
export type CatalogDimension = DimensionCatalog['dimensions'][number];

export interface SessionListQuery {
  search: string;
  /** Null: any. */
  projectId: number | null;
  sessionTemplateId: number | null;
  page: number;
  pageSize: number;
  sortBy: 'date' | 'name';
  sortOrder: 'asc' | 'desc';
}

export interface CatalogQuery {
  /** Dates as `2026-03-01`; empty for none. */
  from: string;
  to: string;
  page: number;
  order: 'ascending' | 'descending';
}

export function listSessions(asked: SessionListQuery, signal?: Signal): Promise<SessionList> {
  const { page, pageSize, sortBy, sortOrder } = asked;
  const query: Query<'GET /api/v2/session'> = {
    page,
    pageSize,
    sortBy,
    sortOrder,
    search: asked.search || undefined,
    projectId: asked.projectId ?? undefined,
    sessionTemplateId: asked.sessionTemplateId ?? undefined,
  };
  return platform.call('GET /api/v2/session', { query, signal });
}

/** @throws {ApiError} 400 with the place of the query's fault. */
export async function querySessions(
  query: { filter: unknown; orderBy: { path: string; direction: string }[]; limit: number; offset: number },
  signal?: Signal,
): Promise<FoundSessions> {
  const { filter, ...rest } = query;
  const body = (filter === null ? rest : query) as SessionQueryRequest;
  return (await platform.call('POST /api/sessions/query', { body, signal })).template;
}

export function listTemplates(signal?: Signal): Promise<readonly SessionTemplate[]> {
  return platform.call('GET /api/v2/session/session_templates', { signal });
}

export function listProjects(signal?: Signal): Promise<readonly Project[]> {
  return platform.call('GET /projects', { signal });
}

/** The id of the new session. */
export async function createSession(body: {
  Name: string;
  ProjectId: number;
  SessionTemplateId: number;
}): Promise<string> {
  return (await platform.call('POST /session', { body: { ...body, Name: body.Name || undefined } })).id;
}

export function readSession(sessionId: string, signal?: Signal): Promise<Session> {
  return platform.call('GET /api/v2/sessions/{id}', { params: { id: sessionId }, signal });
}

/** The address of the workflow UI for operators; `url` is null when the platform does not know it. */
export function readWorkflowUi(signal?: Signal): Promise<WorkflowUi> {
  return platform.call('GET /api/v2/admin/workflow-ui', { signal });
}

/** @param body.closeAt ISO 8601; absent: now */
export function closeSession(
  sessionId: string,
  body: { reason: string; closeAt?: string },
): Promise<{ readonly closedAt: string }> {
  return platform.call('POST /api/v2/session/{id}/close', { params: { id: sessionId }, body });
}

export async function setFrozen(sessionId: string, frozen: boolean): Promise<void> {
  const action = frozen ? 'freeze' : 'unfreeze';
  await platform.call(`POST /api/v2/sessions/{id}/${action}`, { params: { id: sessionId } });
}

export async function deleteSession(sessionId: string): Promise<void> {
  await platform.call('DELETE /api/v2/sessions/{id}', { params: { id: sessionId } });
}

/** Returns the number of retried runs. */
export async function retryFailed(sessionId: string): Promise<number> {
  const params = { id: sessionId };
  return (await platform.call('POST /api/v2/admin/sessions/{id}/retry-failed', { params })).retried;
}

export function explainNode(nodeInstanceId: number, signal?: Signal): Promise<NodeExplanation> {
  return platform.call('GET /api/v2/node-instance/{nodeInstanceId}/explain', {
    params: { nodeInstanceId },
    signal,
  });
}

/** The node's most recently queued run; null when it has none. */
export async function readLastRun(nodeInstanceId: number, signal?: Signal): Promise<NodeRun | null> {
  const query = { nodeInstanceId, pageSize: 1 };
  return (await platform.call('GET /api/v2/admin/node-runs', { query, signal })).nodeRuns[0] ?? null;
}

export async function changeRun(runId: string, action: 'retry' | 'cancel'): Promise<void> {
  await platform.call(`POST /api/v2/admin/node-runs/{id}/${action}`, { params: { id: runId } });
}

export async function reprocessNode(nodeInstanceId: number): Promise<void> {
  await platform.call('POST /api/v2/node-instance/{nodeInstanceId}/reprocess', {
    params: { nodeInstanceId },
  });
}

export function readLineage(outputId: number, signal?: Signal): Promise<OutputLineage> {
  const params = { nodeOutputId: outputId };
  return platform.call('GET /api/v2/node-instance/outputs/{nodeOutputId}/lineage', { params, signal });
}

/** @throws {ApiError} 404 also when the node has no outputs yet. */
export function listOutputs(nodeInstanceId: number, signal?: Signal): Promise<readonly NodeOutput[]> {
  return platform.call('GET /api/v2/node-instance/{nodeInstanceId}/outputs', {
    params: { nodeInstanceId },
    signal,
  });
}

export function readOutputData(outputId: number, signal?: Signal): Promise<Response> {
  const params = { nodeOutputId: outputId };
  return platform.open('GET /api/v2/node-instance/outputs/{nodeOutputId}/data', { params, signal });
}

export function uploadPath(nodeInstanceId: number): string {
  return filled('/api/v2/node-instance/{nodeInstanceId}/outputs/data', { params: { nodeInstanceId } });
}

/** Your own with the present one; any user's as an Administrator. Ends the user's other sign-ins. */
export async function setPassword(userId: string, body: PasswordChange): Promise<void> {
  await platform.call('POST /api/authorization/users/{userId}/password', { params: { userId }, body });
}

export function readNavigation(signal?: Signal): Promise<NavigationSections> {
  return platform.call('GET /api/v2/dashboard/navigation', { signal });
}

export function listDimensions(asked: CatalogQuery, signal?: Signal): Promise<DimensionCatalog> {
  const query: Query<'GET /api/v2/dashboard/dimensions'> = {
    pageNumber: asked.page,
    orderBy: asked.order,
    from: asked.from || undefined,
    to: asked.to || undefined,
  };
  return platform.call('GET /api/v2/dashboard/dimensions', { query, signal });
}

export function listReports(signal?: Signal): Promise<ReportCatalog> {
  return platform.call('GET /api/v2/dashboard/reports/catalog', { signal });
}

export function readReport(key: string, signal?: Signal): Promise<Report> {
  return platform.call('GET /api/v2/dashboard/reports/{key}', { params: { key }, signal });
}

/** @throws {ApiError} 400 with column key, position and reason for an invalid expression */
export async function saveReport(key: string | null, body: NewReport): Promise<void> {
  const { key: _key, ...change } = body;
  if (key === null) await platform.call('POST /api/v2/dashboard/reports', { body });
  else await platform.call('PUT /api/v2/dashboard/reports/{key}', { params: { key }, body: change });
}

export function downloadReport(
  key: string,
  format: 'xlsx' | 'csv',
  range: { from: string; to: string },
  signal?: Signal,
): Promise<Response> {
  const query = { option: key, format, from: range.from || undefined, to: range.to || undefined };
  return platform.open('GET /api/v2/dashboard/reports/download', {
    query,
    headers: { accept: '*/*' },
    signal,
  });
}

export function readDashboard(dimensionId: string, signal?: Signal): Promise<Dashboard> {
  return platform.call('GET /api/v2/dashboard/dimensions/{id}', { params: { id: dimensionId }, signal });
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
  const query = {
    channels: channelKeys.join(','),
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    maxPoints,
  };
  return platform.call('GET /api/v2/dashboard/dimensions/{id}/series', {
    params: { id: dimensionId },
    query,
    signal,
  });
}
