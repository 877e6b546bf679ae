/** Webhooks: addresses that the platform notifies of facts (additions, section 3). */
import { LockMode } from '@mikro-orm/core';
import { limits } from '../../domain/limits.ts';
import type { WebhookEvent } from '../../domain/webhooks/webhook.ts';
import { noteAudited } from '../connection/audit-scope.ts';
import type { Database, EntityReader, Tx } from '../connection/database.ts';
import { oncePerKey } from '../connection/idempotency.ts';
import { newId } from '../connection/ids.ts';
import { definedFields } from '../entities/defined-fields.ts';
import { Project } from '../entities/project.ts';
import { now, secondsFromNow } from '../entities/times.ts';
import { Webhook } from '../entities/webhook.ts';
import type { SecretBox } from '../objects/secrets.ts';

/** The fields that people set. */
export interface WebhookFields {
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  /** Null: of every project. */
  readonly projectId: number | null;
  readonly enabled: boolean;
}

type Refusal = 'missing' | 'project-unknown' | 'too-many';
export type WebhookWrite =
  | { readonly outcome: 'saved'; readonly webhook: Webhook }
  | { readonly outcome: Refusal };

const purposeOf = (id: string) => `webhook secret ${id}`;

/** All webhooks, oldest first. */
export async function listWebhooks({ em }: EntityReader): Promise<Webhook[]> {
  return em.find(Webhook, {}, { orderBy: { createdAt: 'asc', id: 'asc' } });
}

export async function findWebhook({ em }: EntityReader, id: string): Promise<Webhook | undefined> {
  return (await em.findOne(Webhook, id)) ?? undefined;
}

export async function createWebhook(
  database: Database,
  secrets: SecretBox,
  fields: WebhookFields,
  secret: string,
  createdBy: string,
): Promise<WebhookWrite> {
  const work = async (tx: Tx): Promise<WebhookWrite> => {
    // Two callers at the limit wait for each other.
    await tx.query('lock table webhook in share row exclusive mode');
    if ((await tx.em.count(Webhook)) >= limits.webhooks) return { outcome: 'too-many' };
    if (!(await isProject(tx, fields.projectId))) return { outcome: 'project-unknown' };
    const id = newId();
    const webhook = tx.em.create(Webhook, {
      ...fields,
      events: [...fields.events],
      id,
      secret: secrets.encrypt(secret, purposeOf(id)),
      previousSecret: null,
      previousUntil: null,
      disabledReason: null,
      createdBy,
    });
    await tx.em.flush();
    noteAudited(id);
    return { outcome: 'saved', webhook };
  };
  return database.transaction(oncePerKey(work, ({ outcome }) => outcome === 'saved'));
}

/** Changes the given fields. One that is enabled forgets why it was disabled. */
export async function updateWebhook(
  database: Database,
  id: string,
  changes: { readonly [Name in keyof WebhookFields]?: WebhookFields[Name] | undefined },
): Promise<WebhookWrite> {
  return database.transaction(async (tx): Promise<WebhookWrite> => {
    const webhook = await tx.em.findOne(Webhook, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (webhook === null) return { outcome: 'missing' };
    if (!(await isProject(tx, changes.projectId ?? null))) return { outcome: 'project-unknown' };
    const given = definedFields(changes);
    if (given === null) return { outcome: 'saved', webhook };
    Object.assign(webhook, given, { updatedAt: now() });
    if (changes.enabled !== undefined) webhook.disabledReason = null;
    await tx.em.flush();
    return { outcome: 'saved', webhook };
  });
}

/**
 * The secret before stays valid for {@link limits.webhookSecretOverlapSeconds}, unless it is of another `SECRETS_KEY`: then
 * nothing could be signed by it. Undefined when there is no such webhook.
 */
export async function rotateWebhookSecret(
  database: Database,
  secrets: SecretBox,
  id: string,
  secret: string,
): Promise<Webhook | undefined> {
  const work = async ({ em }: Tx): Promise<Webhook | undefined> => {
    const webhook = await em.findOne(Webhook, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (webhook === null) return undefined;
    const hasPrevious = secrets.canDecrypt(webhook.secret, purposeOf(id));
    webhook.previousSecret = hasPrevious ? webhook.secret : null;
    webhook.previousUntil = hasPrevious ? secondsFromNow(limits.webhookSecretOverlapSeconds) : null;
    webhook.secret = secrets.encrypt(secret, purposeOf(id));
    Object.assign(webhook, { updatedAt: now() });
    await em.flush();
    return webhook;
  };
  return database.transaction(oncePerKey(work, (webhook) => webhook !== undefined));
}

/** With its deliveries. @returns false when there is no such webhook */
export async function deleteWebhook(database: Database, id: string): Promise<boolean> {
  return database.transaction(async ({ em }) => (await em.nativeDelete(Webhook, { id })) > 0);
}

/**
 * The secrets that a delivery is signed with, the newest first.
 * @param at by the clock of the database @throws SecretUnreadable
 */
export function secretsOf(webhook: Webhook, secrets: SecretBox, at: Date): string[] {
  const { id, secret, previousSecret, previousUntil } = webhook;
  const isOverlapping = previousSecret !== null && previousUntil !== null && previousUntil > at;
  return [secret, ...(isOverlapping ? [previousSecret] : [])].map((text) =>
    secrets.decrypt(text, purposeOf(id)),
  );
}

async function isProject(tx: Tx, id: number | null): Promise<boolean> {
  return id === null || (await tx.em.findOne(Project, id)) !== null;
}
