/** The routes of the platform that the console uses. */

import { filled, type Query } from '../../client/api-client.ts';
import type {
  NavigationSections,
  NodeExplanation,
  OutputLineage,
  PasswordChange,
  Project,
  RejectedInputs,
  SessionActivity,
  SessionCounts,
  SessionDetails,
  SessionList,
  SessionMetadataKey,
  SessionQueryReply,
  SessionQueryRequest,
  SessionTemplate,
  TemplateAdoption,
  WorkflowUi,
} from '../../client/types.ts';
import { platform } from './http.ts';

export type * from '../../client/types.ts';

export type FoundSessions = SessionQueryReply['template'];

export function listSessions(query: Query<'GET /api/v2/session'>, signal: AbortSignal): Promise<SessionList> {
  return platform.call('GET /api/v2/session', { query, signal });
}

/** The sessions that the caller made or takes part in, newest first. */
export function listOwnSessions(
  query: Query<'GET /api/v2/session/mine'>,
  signal: AbortSignal,
): Promise<SessionList> {
  return platform.call('GET /api/v2/session/mine', { query, signal });
}

export function countSessions(
  query: Query<'GET /api/v2/session/counts'>,
  signal: AbortSignal,
): Promise<SessionCounts> {
  return platform.call('GET /api/v2/session/counts', { query, signal });
}

/** The paths that the metadata of sessions have, of one project or all, with sample values. */
export async function listMetadataKeys(
  projectId: number | null,
  signal: AbortSignal,
): Promise<readonly SessionMetadataKey[]> {
  const query = { projectId: projectId ?? undefined };
  return (await platform.call('GET /api/v2/session/metadata-keys', { query, signal })).keys;
}

/** @throws {ApiError} 400 with the place of the query's fault. */
export async function querySessions(
  query: { filter: unknown; orderBy: { path: string; direction: string }[]; limit: number; offset: number },
  signal: AbortSignal,
): Promise<FoundSessions> {
  const { filter, ...rest } = query;
  const body = (filter === null ? rest : query) as SessionQueryRequest;
  return (await platform.call('POST /api/sessions/query', { body, signal })).template;
}

export function listTemplates(signal?: AbortSignal): Promise<readonly SessionTemplate[]> {
  return platform.call('GET /api/v2/session/session_templates', { signal });
}

export function listProjects(signal?: AbortSignal): Promise<readonly Project[]> {
  return platform.call('GET /projects', { signal });
}

/** The id of the new session. */
export async function createSession(body: {
  Name: string;
  ProjectId: number;
  SessionTemplateId: number;
  Metadata?: Record<string, unknown>;
}): Promise<string> {
  return (await platform.call('POST /session', { body: { ...body, Name: body.Name || undefined } })).id;
}

export function readSession(sessionId: string, signal?: AbortSignal): Promise<SessionDetails> {
  return platform.call('GET /api/v2/sessions/{id}', { params: { id: sessionId }, signal });
}

/** Who did what, newest first. */
export function readActivity(
  sessionId: string,
  limit: number,
  signal: AbortSignal,
): Promise<SessionActivity> {
  const params = { id: sessionId };
  return platform.call('GET /api/v2/session/{id}/activity', { params, query: { limit }, signal });
}

/** The address of the workflow UI for operators; `url` is null when the platform does not know it. */
export function readWorkflowUi(signal: AbortSignal): Promise<WorkflowUi> {
  return platform.call('GET /api/v2/admin/workflow-ui', { signal });
}

/** @param body.closeAt ISO 8601; absent: now */
export function closeSession(
  sessionId: string,
  body: { reason: string; closeAt?: string },
): Promise<{ readonly closedAt: string }> {
  return platform.call('POST /api/v2/session/{id}/close', { params: { id: sessionId }, body });
}

export async function savePriority(sessionId: string, priority: number): Promise<void> {
  await platform.call('PATCH /api/v2/sessions/{id}', { params: { id: sessionId }, body: { priority } });
}

/** Replaces the metadata that callers write. */
export async function saveMetadata(sessionId: string, metadata: Record<string, unknown>): Promise<void> {
  await platform.call('PATCH /api/v2/sessions/{id}', { params: { id: sessionId }, body: { metadata } });
}

export async function setFrozen(sessionId: string, frozen: boolean): Promise<void> {
  const action = frozen ? 'freeze' : 'unfreeze';
  await platform.call(`POST /api/v2/sessions/{id}/${action}`, { params: { id: sessionId } });
}

export async function deleteSession(sessionId: string): Promise<void> {
  await platform.call('DELETE /api/v2/sessions/{id}', { params: { id: sessionId } });
}

/** What its template says by now; with `dryRun` only what that would change. */
export function adoptTemplate(sessionId: string, dryRun: boolean): Promise<TemplateAdoption> {
  return platform.call('POST /api/v2/session/{id}/adopt-template', {
    params: { id: sessionId },
    body: { dryRun },
  });
}

/** Returns the number of retried runs. */
export async function retryFailed(sessionId: string): Promise<number> {
  const params = { id: sessionId };
  return (await platform.call('POST /api/v2/admin/sessions/{id}/retry-failed', { params })).retried;
}

export function explainNode(nodeInstanceId: number, signal: AbortSignal): Promise<NodeExplanation> {
  return platform.call('GET /api/v2/node-instance/{nodeInstanceId}/explain', {
    params: { nodeInstanceId },
    signal,
  });
}

/** @param inputs runs over just these inputs; absent: over the node's latest, or all by its node template */
export async function reprocessNode(nodeInstanceId: number, inputs?: readonly number[]) {
  return await platform.call('POST /api/v2/node-instance/{nodeInstanceId}/reprocess', {
    params: { nodeInstanceId },
    ...(inputs === undefined ? {} : { body: { inputs } }),
  });
}

/** Inputs that the node rejected, the newest first. */
export function listRejectedInputs(
  nodeInstanceId: number,
  page: number,
  signal: AbortSignal,
): Promise<RejectedInputs> {
  return platform.call('GET /api/v2/node-instance/{nodeInstanceId}/rejected-inputs', {
    params: { nodeInstanceId },
    query: { page },
    signal,
  });
}

export function readLineage(outputId: number, signal: AbortSignal): Promise<OutputLineage> {
  const params = { nodeOutputId: outputId };
  return platform.call('GET /api/v2/node-instance/outputs/{nodeOutputId}/lineage', { params, signal });
}

export function readOutputData(outputId: number, signal?: AbortSignal): Promise<Response> {
  const params = { nodeOutputId: outputId };
  return platform.open('GET /api/v2/node-instance/outputs/{nodeOutputId}/data', { params, signal });
}

/** Address at which the browser downloads an output on its own, without a token. */
export async function downloadAddress(nodeOutputId: number, fileName: string): Promise<string> {
  const route = 'GET /api/v2/node-instance/outputs/{nodeOutputId}/download-address';
  const { address } = await platform.call(route, { params: { nodeOutputId }, query: { fileName } });
  return address;
}

/** Address of the resumable uploads to a node. */
export function resumablePath(nodeInstanceId: number): string {
  return filled('/api/v2/node-instance/{nodeInstanceId}/uploads', { params: { nodeInstanceId } });
}

/** Address of uploads to a node, each in one body. */
export function uploadPath(nodeInstanceId: number): string {
  return filled('/api/v2/node-instance/{nodeInstanceId}/outputs/data', { params: { nodeInstanceId } });
}

/** Your own with the present one; any user's as an Administrator. Ends the user's other sign-ins. */
export async function setPassword(userId: string, body: PasswordChange): Promise<void> {
  await platform.call('POST /api/authorization/users/{userId}/password', { params: { userId }, body });
}

export function readNavigation(signal: AbortSignal): Promise<NavigationSections> {
  return platform.call('GET /api/v2/dashboard/navigation', { signal });
}
