/** The routes for operators. */

import type { Query } from '../../client/api-client.ts';
import { ApiError } from '../../client/errors.ts';
import type {
  AuditPage,
  ConcurrencyChange,
  ConfigurationChange,
  ConfigurationEntry,
  ConfigurationRequest,
  Ingest,
  IngestChange,
  IngestRequest,
  IngestWithSecret,
  OfflineTokenCreated,
  OfflineTokenMetadata,
  ProjectRequest,
  ProjectStorage,
  PublishedFeature,
  QueueList,
  RetentionPreview,
  RunnerInstanceList,
  RunnerManifestReply,
  RunnerTokenCreated,
  RunnerTokenMetadata,
  RunnerTokenRequest,
  User,
  UserChange,
  UserList,
  UserRequest,
  Webhook,
  WebhookChangeRequest,
  WebhookDeliveryList,
  WebhookRequest,
  WebhookSecret,
  WebhookWithSecret,
} from '../../client/types.ts';
import { platform } from './http.ts';

export type * from '../../client/types.ts';
export { listProjects, listTemplates, setPassword } from './api.ts';

export function listAudit(query: Query<'GET /api/v2/admin/audit'>, signal: AbortSignal): Promise<AuditPage> {
  return platform.call('GET /api/v2/admin/audit', { query, signal });
}

/** Sign-ins and other events of tokens and accounts. */
export function listSignInAudit(
  query: Query<'GET /api/authorization/audit'>,
  signal: AbortSignal,
): Promise<AuditPage> {
  return platform.call('GET /api/authorization/audit', { query, signal });
}

/** What retention would delete now. */
export function previewRetention(signal: AbortSignal): Promise<RetentionPreview> {
  return platform.call('GET /api/v2/admin/retention', { signal });
}

export async function runRetention(): Promise<void> {
  await platform.call('POST /api/v2/admin/retention');
}

/** @param projectId null: of all projects */
export function readStorage(projectId: number | null, signal: AbortSignal): Promise<ProjectStorage> {
  return platform.call('GET /api/v2/session/storage', {
    query: { projectId: projectId ?? undefined },
    signal,
  });
}

export function listRunners(page: number, signal: AbortSignal): Promise<RunnerInstanceList> {
  return platform.call('GET /api/v2/admin/runners', { query: { page }, signal });
}

export function listQueues(signal?: AbortSignal): Promise<QueueList> {
  return platform.call('GET /api/v2/admin/queues', { signal });
}

/** Sets a limit, in place of that of the manifest. */
export async function saveConcurrency(name: string, body: ConcurrencyChange): Promise<void> {
  await platform.call('PUT /api/v2/admin/concurrency/{name}', { params: { name }, body });
}

export async function removeConcurrency(name: string, kind: 'nodeTemplate' | 'runnerType'): Promise<void> {
  await platform.call('DELETE /api/v2/admin/concurrency/{name}', { params: { name }, query: { kind } });
}

/** A drained runner finishes its tasks and gets no more. */
export async function setDrained(runnerId: string, drained: boolean): Promise<void> {
  const method = drained ? 'POST' : 'DELETE';
  await platform.call(`${method} /api/v2/admin/runners/{id}/drain`, { params: { id: runnerId } });
}

export function listFeatures(signal: AbortSignal): Promise<readonly PublishedFeature[]> {
  return platform.call('GET /api/v2/admin/runner-manifests', { signal });
}

/** The manifest that a feature published last; null when there is no such feature. */
export async function readManifest(
  feature: string,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>> | null> {
  const features = await platform.call('GET /api/v2/admin/runner-manifests', { query: { feature }, signal });
  return features.find(({ name }) => name === feature)?.manifest ?? null;
}

/**
 * Checks a manifest, and publishes it when `publish` is true. Faults and warnings come with the answer.
 * @throws {ApiError} for every answer other than a valid or faulty manifest
 */
export async function sendManifest(manifest: unknown, publish: boolean): Promise<RunnerManifestReply> {
  const route = publish ? 'POST /api/v2/admin/runner-manifests' : 'POST /api/v2/runner/manifests/validate';
  try {
    return await platform.call(route, { document: JSON.stringify(manifest) });
  } catch (error) {
    if (error instanceof ApiError && error.status === 400 && isManifestReply(error.body)) return error.body;
    throw error;
  }
}

function isManifestReply(body: unknown): body is RunnerManifestReply {
  return typeof body === 'object' && body !== null && 'warnings' in body && 'errors' in body;
}

export async function createProject(body: ProjectRequest): Promise<void> {
  await platform.call('POST /projects', { body });
}

/** The platform wants a title in each change: one that does not change is sent as it is now. */
export async function changeProject(id: number, change: Partial<ProjectRequest>): Promise<void> {
  const params = { id };
  const Title = change.Title ?? (await platform.call('GET /projects/{id}', { params })).title;
  await platform.call('PUT /projects/{id}', { params, body: { ...change, Title } });
}

export function listRunnerTokens(signal: AbortSignal): Promise<readonly RunnerTokenMetadata[]> {
  return platform.call('GET /api/v2/admin/runner-tokens', { signal });
}

export function createRunnerToken(body: RunnerTokenRequest): Promise<RunnerTokenCreated> {
  return platform.call('POST /api/v2/admin/runner-tokens', { body });
}

export async function revokeRunnerToken(tokenId: string): Promise<void> {
  await platform.call('DELETE /api/v2/admin/runner-tokens/{id}', { params: { id: tokenId } });
}

export function listOfflineTokens(signal: AbortSignal): Promise<readonly OfflineTokenMetadata[]> {
  return platform.call('GET /api/v2/admin/offline-tokens', { signal });
}

export function createOfflineToken(): Promise<OfflineTokenCreated> {
  return platform.call('POST /api/v2/admin/offline-tokens');
}

export async function revokeOfflineToken(secretId: string): Promise<void> {
  await platform.call('DELETE /api/v2/admin/offline-tokens/{secretId}', { params: { secretId } });
}

export function listDataSources(signal: AbortSignal): Promise<readonly { readonly name: string }[]> {
  return platform.call('GET /api/v2/admin/data-sources', { signal });
}

export function listIngests(signal: AbortSignal): Promise<readonly Ingest[]> {
  return platform.call('GET /api/v2/admin/ingests', { signal });
}

/** The secret is shown only here. */
export function createIngest(body: IngestRequest): Promise<IngestWithSecret> {
  return platform.call('POST /api/v2/admin/ingests', { body });
}

export function changeIngest(id: number, body: IngestChange): Promise<Ingest> {
  return platform.call('PUT /api/v2/admin/ingests/{id}', { params: { id }, body });
}

export async function deleteIngest(id: number): Promise<void> {
  await platform.call('DELETE /api/v2/admin/ingests/{id}', { params: { id } });
}

/** The previous secret is refused from now on. */
export function rotateIngestSecret(id: number): Promise<IngestWithSecret> {
  return platform.call('POST /api/v2/admin/ingests/{id}/rotate-secret', { params: { id } });
}

export function listAccounts(search: string, page: number, signal: AbortSignal): Promise<UserList> {
  return platform.call('GET /api/authorization/users', {
    query: { page, search: search || undefined },
    signal,
  });
}

export function createAccount(body: UserRequest): Promise<User> {
  return platform.call('POST /api/authorization/users', { body });
}

export function changeAccount(userId: string, body: UserChange): Promise<User> {
  return platform.call('PATCH /api/authorization/users/{userId}', { params: { userId }, body });
}

export async function deleteAccount(userId: string): Promise<void> {
  await platform.call('DELETE /api/authorization/users/{userId}', { params: { userId } });
}

export async function listConfiguration(signal: AbortSignal): Promise<ConfigurationEntry[]> {
  const groups = await platform.call('GET /config/all', { signal });
  return Object.values(groups)
    .flatMap((group) => Object.values(group).flatMap((part) => Object.values(part)))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

export function createConfiguration(body: ConfigurationRequest): Promise<ConfigurationEntry> {
  return platform.call('POST /config', { body });
}

export function changeConfiguration(name: string, body: ConfigurationChange): Promise<ConfigurationEntry> {
  return platform.call('PUT /config/{name}', { params: { name }, body });
}

export function listWebhooks(signal: AbortSignal): Promise<readonly Webhook[]> {
  return platform.call('GET /api/v2/admin/webhooks', { signal });
}

/** The secret is shown only here. */
export function createWebhook(body: WebhookRequest): Promise<WebhookWithSecret> {
  return platform.call('POST /api/v2/admin/webhooks', { body });
}

export async function changeWebhook(id: string, body: WebhookChangeRequest): Promise<void> {
  await platform.call('PUT /api/v2/admin/webhooks/{id}', { params: { id }, body });
}

export async function deleteWebhook(id: string): Promise<void> {
  await platform.call('DELETE /api/v2/admin/webhooks/{id}', { params: { id } });
}

export function rotateWebhookSecret(id: string): Promise<WebhookSecret> {
  return platform.call('POST /api/v2/admin/webhooks/{id}/rotate-secret', { params: { id } });
}

export async function testWebhook(id: string): Promise<void> {
  await platform.call('POST /api/v2/admin/webhooks/{id}/test', { params: { id } });
}

/** Newest first. @param before `next` of the page before */
export function listDeliveries(
  id: string,
  before: number | null,
  signal: AbortSignal,
): Promise<WebhookDeliveryList> {
  const query = { before: before ?? undefined, limit: 25 };
  return platform.call('GET /api/v2/admin/webhooks/{id}/deliveries', { params: { id }, query, signal });
}

export async function redeliverWebhook(id: string, deliveryId: string): Promise<void> {
  const params = { id, deliveryId };
  await platform.call('POST /api/v2/admin/webhooks/{id}/deliveries/{deliveryId}/redeliver', { params });
}
