/** The audit of tokens and accounts: each entry is written in the transaction of its change. */
import type { AuthAuditAction } from '../domain/access/audit.ts';
import {
  type AuditEntry,
  type AuditFilter,
  type AuditPlace,
  auditPageStatement,
} from '../domain/access/audit-page.ts';
import { planForValues } from '../domain/network/session-options.ts';
import { redacted } from '../domain/redact.ts';
import { clientNetwork } from '../http/server/client-address.ts';
import type { AuthDatabase, Runner, Statement } from './database.ts';
import type { AuthCaller } from './route.ts';

/** The network and the request id of a call. */
export type Origin = { readonly requestId: string; readonly network: string | null };

/** Who acts: a caller, or a user who is about to get a token; null when unknown. */
export type Actor = {
  readonly kind: AuthCaller['kind'];
  readonly role: AuthCaller['role'] | null;
  readonly user: { readonly id: string };
};

export const asUser = (id: string, role: AuthCaller['role'] | null): Actor => ({
  kind: 'access',
  role,
  user: { id },
});

type Call = {
  readonly requestId: string;
  readonly request: {
    readonly remoteAddress: string;
    readonly headers: Readonly<Record<string, string | undefined>>;
  };
  readonly services: { readonly settings: { readonly TRUSTED_PROXIES: number } };
};

export function originOf({ requestId, request, services }: Call): Origin {
  const forwarded = request.headers['x-forwarded-for'];
  return {
    requestId,
    network: clientNetwork(request.remoteAddress, forwarded, services.settings.TRUSTED_PROXIES),
  };
}

const insertStatement: Statement = {
  name: 'audit_insert',
  text: `insert into auth.audit_entry
      (action, actor_kind, actor_id, actor_role, object_type, object_id, request_id, network)
    values ($1, $2, $3, $4, $5, $6, $7, $8::cidr)`,
};

export async function audit(
  tx: Runner,
  action: AuthAuditAction,
  actor: Actor | null,
  object: { readonly type: 'user' | 'offlineToken'; readonly id: string | null },
  origin: Origin,
): Promise<void> {
  const kind = actor?.kind === 'offline' ? 'device' : 'user';
  const who = [kind, actor?.user.id ?? null, actor?.role ?? null];
  // Chosen by the caller, who may have put a token there.
  const requestId = redacted(origin.requestId);
  await tx.query(insertStatement, [action, ...who, object.type, object.id, requestId, origin.network]);
}

const planPage: Statement = { name: 'audit_plan', text: planForValues };

/** Newest first. @param after the last entry of the page before */
export async function listAudit(
  database: Pick<AuthDatabase, 'transaction'>,
  filter: AuditFilter,
  after: AuditPlace | null,
  limit: number,
): Promise<AuditEntry[]> {
  const { text, values } = auditPageStatement('auth.audit_entry', filter, after, limit);
  // One prepared statement for each set of filters.
  const names = Object.entries(filter).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  const name = `audit_list_${names.sort().join('_')}_${after === null ? 'first' : 'next'}`;
  return await database.transaction(async (tx) => {
    await tx.query(planPage, []);
    return await tx.query<AuditEntry>({ name, text }, values);
  });
}
