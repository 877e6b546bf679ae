/**
 * The one place that writes audit entries of calls. While a call is under way its scope is open, and the first
 * transaction that writes something for it carries the entry: both are committed or neither is. A call that is
 * acknowledged without having written through a transaction gets its entry before the reply (see `runAudited`).
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { AuditActorKind, AuditObject } from '../../domain/access/audit.ts';
import { redacted } from '../../domain/redact.ts';
import type { Queryable, Tx } from './queryable.ts';

export interface AuditedCall {
  readonly action: string;
  readonly actorKind: AuditActorKind;
  readonly actorId: string | null;
  readonly actorRole: string | null;
  readonly objectType: AuditObject;
  /** Null: the code that makes it names it with {@link noteAudited}. */
  readonly objectId: string | null;
  readonly requestId: string | null;
  /** In CIDR form. */
  readonly network: string | null;
}

interface Scope {
  readonly call: AuditedCall;
  actorId: string | null;
  objectId: string | null;
  sessionId: string | null;
  /** False once an entry is committed, and when the call is over: what it started may continue without it. */
  isPending: boolean;
}

const scopes = new AsyncLocalStorage<Scope | undefined>();

/**
 * Runs a call with its scope open. When it ends well (by `isAcknowledged`) and nothing has carried the entry, it is written
 * before this resolves, so no acknowledged write is without one.
 */
export async function runAudited<T>(
  database: Queryable,
  call: AuditedCall,
  work: () => Promise<T>,
  isAcknowledged: (result: T) => boolean,
): Promise<T> {
  const { actorId, objectId } = call;
  const sessionId = call.objectType === 'session' ? objectId : null;
  const scope: Scope = { call, actorId, objectId, sessionId, isPending: true };
  return scopes.run(scope, async () => {
    try {
      const result = await work();
      if (scope.isPending && isAcknowledged(result)) {
        await unaudited(() => database.query(insertEntry, entryValues(scope)));
      }
      return result;
    } finally {
      scope.isPending = false;
    }
  });
}

/** Bookkeeping during a call, not the caller's own write: it carries no entry. */
export function unaudited<T>(work: () => T): T {
  return scopes.run(undefined, work);
}

/** Drops the pending entry of a repeat that gets an earlier call's answer: that call has written it. */
export function dropAudit(): void {
  const scope = scopes.getStore();
  if (scope !== undefined) scope.isPending = false;
}

/** Names the object that a call makes, in the transaction that makes it. */
export function noteAudited(objectId: string | number): void {
  const scope = scopes.getStore();
  if (scope !== undefined && scope.call.objectId === null) scope.objectId = String(objectId);
}

/** Names the session that a call changes something of. */
export function noteAuditedSession(sessionId: string): void {
  const scope = scopes.getStore();
  if (scope !== undefined) scope.sessionId = sessionId;
}

/** Names the caller where no token does. */
export function noteAuditActor(actorId: string | number): void {
  const scope = scopes.getStore();
  if (scope !== undefined) scope.actorId = String(actorId);
}

/** The statement that a transaction with writes sends before its commit. */
export interface AuditStatement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** Call this after the commit. @param rows the statement's result */
  committed(rows: readonly unknown[]): void;
}

export function isAuditPending(): boolean {
  return scopes.getStore()?.isPending === true;
}

export function auditStatement(): AuditStatement | undefined {
  const scope = scopes.getStore();
  if (scope?.isPending !== true) return undefined;
  return {
    text: insertEntryOfWrite,
    values: entryValues(scope),
    committed(rows) {
      if (rows.length > 0) scope.isPending = false;
    },
  };
}

/**
 * For a transaction that calls share, each with work of its own: the work carries the entry of its call.
 * @param isDone false for a refusal; call `committed` after the commit
 */
export function carryAudit<T>(
  work: (tx: Tx) => Promise<T>,
  isDone: (result: T) => boolean,
): { readonly work: (tx: Tx) => Promise<T>; committed(): void } {
  const scope = scopes.getStore();
  if (scope?.isPending !== true) return { work, committed() {} };
  let isWritten = false;
  return {
    work: (tx) =>
      scopes.run(scope, async () => {
        const result = await work(tx);
        isWritten = isDone(result);
        if (isWritten) void tx.pipelined(insertEntry, entryValues(scope));
        return result;
      }),
    committed() {
      if (isWritten) scope.isPending = false;
    },
  };
}

const columns =
  'action, actor_kind, actor_id, actor_role, object_type, object_id, session_id, request_id, network';
const values = '$1, $2, $3, $4, $5, $6, $7::uuid, $8, $9::cidr';
const insertEntry = `insert into audit_entry (${columns}) values (${values})`;
/** A transaction that changed no row has no number. */
const insertEntryOfWrite = `insert into audit_entry (${columns})
  select ${values} where pg_current_xact_id_if_assigned() is not null returning 1`;

function entryValues({ call, actorId, objectId, sessionId }: Scope): readonly unknown[] {
  const { action, actorKind, actorRole, objectType, requestId, network } = call;
  const object = objectId ?? (objectType === 'session' ? sessionId : null);
  return [
    action,
    actorKind,
    actorId,
    actorRole,
    objectType,
    withoutTokens(object),
    sessionId,
    withoutTokens(requestId),
    network,
  ];
}

/** Callers choose some names and may choose their request's id: a token put there by mistake must not be stored. */
const withoutTokens = (text: string | null) => (text === null ? null : redacted(text));

/** An entry for an action of the platform itself, in the transaction that did it. */
export async function auditOwnAction(
  tx: Queryable,
  entry: {
    readonly action: string;
    readonly objectType: AuditObject;
    readonly objectId: string | null;
    readonly sessionId: string | null;
  },
): Promise<void> {
  const { action, objectType, objectId, sessionId } = entry;
  await tx.query(insertEntry, [action, 'platform', null, null, objectType, objectId, sessionId, null, null]);
}

const writing =
  /^\s*(insert|update|delete|merge)\b|^\s*with\b[\s\S]*\b(insert\s+into|update|delete\s+from)\b/i;
const knownTexts = new Map<string, boolean>();
const maxKnownTexts = 1_000;

/** Whether a statement writes: locks alone are no write. */
export function isWrite(text: string): boolean {
  const known = knownTexts.get(text);
  if (known !== undefined) return known;
  const answer = writing.test(text);
  if (knownTexts.size < maxKnownTexts) knownTexts.set(text, answer);
  return answer;
}
