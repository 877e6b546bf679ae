/** The routes for operators. Their shapes stand in `admin-shapes.ts`. */

import type {
  Account,
  AccountPage,
  ConfigurationEntry,
  Feature,
  Ingest,
  IngestFields,
  MadeToken,
  ManifestReply,
  NewRunnerToken,
  OfflineToken,
  RunnerPage,
  RunnerToken,
  SessionTemplate,
} from './admin-shapes.ts';
import { ApiError, send, sendForJson } from './http.ts';

export type * from './admin-shapes.ts';
export { listProjects, listTemplates, setPassword } from './api.ts';

type Signal = AbortSignal | undefined;
const admin = '/api/v2/admin';
const accounts = '/api/authorization/users';

export function listRunners(page: number, signal?: Signal): Promise<RunnerPage> {
  return sendForJson(`${admin}/runners?page=${page}`, { signal });
}

/** A drained runner finishes what it holds and gets nothing more. */
export async function setDrained(runnerId: string, drained: boolean): Promise<void> {
  await send(`${admin}/runners/${runnerId}/drain`, { method: drained ? 'POST' : 'DELETE' });
}

export function listFeatures(signal?: Signal): Promise<Feature[]> {
  return sendForJson(`${admin}/runner-manifests`, { signal });
}

/** The manifest that a feature published last; null when there is no such feature. */
export async function readManifest(
  feature: string,
  signal?: Signal,
): Promise<Record<string, unknown> | null> {
  const path = `${admin}/runner-manifests?feature=${encodeURIComponent(feature)}`;
  const features = await sendForJson<Feature[]>(path, { signal });
  return features.find(({ name }) => name === feature)?.manifest ?? null;
}

/**
 * Checks a manifest, and publishes it when `publish` is true. Faults and warnings come with the answer.
 * @throws {ApiError} for every answer but that the manifest is good or faulty
 */
export async function sendManifest(manifest: unknown, publish: boolean): Promise<ManifestReply> {
  const path = publish ? `${admin}/runner-manifests` : '/api/v2/runner/manifests/validate';
  try {
    return await sendForJson(path, { method: 'POST', body: manifest });
  } catch (error) {
    if (error instanceof ApiError && error.status === 400 && isManifestReply(error.body)) return error.body;
    throw error;
  }
}

function isManifestReply(body: unknown): body is ManifestReply {
  return typeof body === 'object' && body !== null && 'warnings' in body && 'errors' in body;
}

export interface ProjectFields {
  Title: string;
  Description: string;
  DefaultSessionTemplateId: number | null;
  QueuedIngestion: boolean;
  RetentionDays: number | null;
}

export async function saveProject(id: number | null, body: ProjectFields): Promise<void> {
  await send(id === null ? '/projects' : `/projects/${id}`, { method: id === null ? 'POST' : 'PUT', body });
}

export function listRunnerTokens(signal?: Signal): Promise<RunnerToken[]> {
  return sendForJson(`${admin}/runner-tokens`, { signal });
}

export function createRunnerToken(body: NewRunnerToken): Promise<MadeToken> {
  return sendForJson(`${admin}/runner-tokens`, { method: 'POST', body });
}

export async function revokeRunnerToken(tokenId: string): Promise<void> {
  await send(`${admin}/runner-tokens/${tokenId}`, { method: 'DELETE' });
}

export function listOfflineTokens(signal?: Signal): Promise<OfflineToken[]> {
  return sendForJson(`${admin}/offline-tokens`, { signal });
}

export function createOfflineToken(): Promise<MadeToken> {
  return sendForJson(`${admin}/offline-tokens`, { method: 'POST' });
}

export async function revokeOfflineToken(secretId: string): Promise<void> {
  await send(`${admin}/offline-tokens/${secretId}`, { method: 'DELETE' });
}

/** With its nodes, which the list leaves out. */
export function readTemplate(templateId: number, signal?: Signal): Promise<SessionTemplate> {
  return sendForJson(`/api/v2/session/session_templates/${templateId}`, { signal });
}

/** @throws {ApiError} 400 with every fault of the definition in its message. */
export function importTemplate(definition: unknown): Promise<{ id: number; name: string }> {
  return sendForJson(`${admin}/session-templates`, { method: 'POST', body: definition });
}

export function listDataSources(signal?: Signal): Promise<{ name: string }[]> {
  return sendForJson(`${admin}/data-sources`, { signal });
}

export function listIngests(signal?: Signal): Promise<Ingest[]> {
  return sendForJson(`${admin}/ingests`, { signal });
}

/** The secret is shown this once. */
export function createIngest(body: IngestFields): Promise<Ingest & { secret: string }> {
  return sendForJson(`${admin}/ingests`, { method: 'POST', body });
}

export function changeIngest(id: number, body: IngestFields): Promise<Ingest> {
  return sendForJson(`${admin}/ingests/${id}`, { method: 'PUT', body });
}

export async function deleteIngest(id: number): Promise<void> {
  await send(`${admin}/ingests/${id}`, { method: 'DELETE' });
}

/** The one before is refused from now on. */
export function rotateIngestSecret(id: number): Promise<Ingest & { secret: string }> {
  return sendForJson(`${admin}/ingests/${id}/rotate-secret`, { method: 'POST' });
}

export function listAccounts(search: string, page: number, signal?: Signal): Promise<AccountPage> {
  const parameters = new URLSearchParams({ page: String(page) });
  if (search !== '') parameters.set('search', search);
  return sendForJson(`${accounts}?${parameters}`, { signal });
}

export function createAccount(body: Partial<Account> & { password: string }): Promise<Account> {
  return sendForJson(accounts, { method: 'POST', body });
}

export function changeAccount(userId: string, body: Partial<Account>): Promise<Account> {
  return sendForJson(`${accounts}/${userId}`, { method: 'PATCH', body });
}

export async function deleteAccount(userId: string): Promise<void> {
  await send(`${accounts}/${userId}`, { method: 'DELETE' });
}

export async function listConfiguration(signal?: Signal): Promise<ConfigurationEntry[]> {
  type Groups = Record<string, Record<string, Record<string, ConfigurationEntry>>>;
  const groups = await sendForJson<Groups>('/config/all', { signal });
  return Object.values(groups)
    .flatMap((group) => Object.values(group).flatMap((part) => Object.values(part)))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

type ConfigurationFields = Pick<ConfigurationEntry, 'name' | 'valueType' | 'value' | 'description'>;

export function createConfiguration(body: ConfigurationFields): Promise<ConfigurationEntry> {
  return sendForJson('/config', { method: 'POST', body });
}

export function changeConfiguration(name: string, body: ConfigurationFields): Promise<ConfigurationEntry> {
  return sendForJson(`/config/${encodeURIComponent(name)}`, { method: 'PUT', body });
}
