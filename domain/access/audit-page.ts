/** Reading an audit page by page: both audits, the platform's and the authentication service's, are read alike. */
import type { AuditActorKind } from './audit.ts';

export interface AuditEntry {
  readonly id: number;
  readonly at: Date;
  readonly action: string;
  readonly actorKind: AuditActorKind;
  readonly actorId: string | null;
  readonly actorRole: string | null;
  readonly objectType: string;
  readonly objectId: string | null;
  readonly sessionId: string | null;
  readonly requestId: string | null;
  readonly network: string | null;
}

export interface AuditFilter {
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  readonly action?: string | undefined;
  readonly actorId?: string | undefined;
  readonly objectType?: string | undefined;
  readonly objectId?: string | undefined;
  readonly sessionId?: string | undefined;
}

/** The place behind which a page begins: its last entry's time and id. */
export interface AuditPlace {
  readonly at: Date;
  readonly id: number;
}

const placeText = /^(\d{1,14})-(\d{1,15})$/;

export function formatPlace({ at, id }: AuditPlace): string {
  return `${at.getTime()}-${id}`;
}

/** Null for a text that no page has given. */
export function parsePlace(text: string): AuditPlace | null {
  const [, at, id] = placeText.exec(text) ?? [];
  return at === undefined || id === undefined ? null : { at: new Date(Number(at)), id: Number(id) };
}

/**
 * The statement of one page, newest first.
 * @param table as written in the statement
 */
export function auditPageStatement(
  table: string,
  filter: AuditFilter,
  after: AuditPlace | null,
  limit: number,
): { readonly text: string; readonly values: readonly unknown[] } {
  const values: unknown[] = [];
  const bind = (value: unknown, type: string) => `$${values.push(value)}::${type}`;
  const conditions = ['true'];
  if (filter.from !== undefined) conditions.push(`at >= ${bind(filter.from, 'timestamptz')}`);
  if (filter.to !== undefined) conditions.push(`at < ${bind(filter.to, 'timestamptz')}`);
  if (filter.action !== undefined) conditions.push(`action = ${bind(filter.action, 'text')}`);
  if (filter.actorId !== undefined) conditions.push(`actor_id = ${bind(filter.actorId, 'text')}`);
  if (filter.objectType !== undefined) conditions.push(`object_type = ${bind(filter.objectType, 'text')}`);
  if (filter.objectId !== undefined) conditions.push(`object_id = ${bind(filter.objectId, 'text')}`);
  if (filter.sessionId !== undefined) conditions.push(`session_id = ${bind(filter.sessionId, 'uuid')}`);
  if (after !== null) {
    conditions.push(`(at, id) < (${bind(after.at, 'timestamptz')}, ${bind(after.id, 'bigint')})`);
  }
  const text = `
    select id::float8 as id, at, action, actor_kind as "actorKind", actor_id as "actorId", actor_role as "actorRole",
           object_type as "objectType", object_id as "objectId", session_id as "sessionId",
           request_id as "requestId", network::text as network
      from ${table} where ${conditions.join(' and ')}
     order by at desc, id desc limit ${bind(limit, 'int')}`;
  return { text, values };
}
