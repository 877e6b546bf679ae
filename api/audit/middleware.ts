/** One audit entry for each acknowledged call of a route that writes (domain/access/audit.ts), written by store/connection/audit-scope.ts. */
import { type Call, type RouteMiddleware, replyAfter } from '../../http/call.ts';
import { clientNetwork } from '../../http/server/client-address.ts';
import { type AuditedCall, runAudited } from '../../store/connection/audit-scope.ts';
import type { Principal } from '../identity/auth-client.ts';
import type { RunnerPrincipal } from '../runner-tokens/principal.ts';
import type { OpenServices } from '../services.ts';

type Who = Pick<AuditedCall, 'actorKind' | 'actorId' | 'actorRole'>;

export function auditing({
  database,
  settings,
}: Pick<OpenServices, 'database' | 'settings'>): RouteMiddleware {
  return ({ id, method, audit: rule }) => {
    if (method === 'GET' || rule === undefined || 'notHere' in rule) return undefined;
    return async ({ state }, next) => {
      const { remoteAddress, headers, requestId } = state;
      const call: AuditedCall = {
        action: id,
        ...whoOf(state),
        objectType: rule.object,
        objectId: rule.from === undefined ? null : named(rule.from, state),
        requestId,
        network: clientNetwork(remoteAddress, headers['x-forwarded-for'], settings.TRUSTED_PROXIES),
      };
      const run = () => replyAfter(state, next);
      await runAudited(database, call, run, ({ status }) => status < 400);
    };
  };
}

/** Open routes that write belong to managed ingests, which name themselves. */
function whoOf({ principal }: Call): Who {
  if (principal === null) return { actorKind: 'ingest', actorId: null, actorRole: null };
  const known = principal as unknown as Principal | RunnerPrincipal;
  if (known.kind === 'runner') return { actorKind: 'runner', actorId: known.tokenId, actorRole: known.role };
  const actorKind = known.kind === 'offline' ? 'device' : 'user';
  return { actorKind, actorId: known.userId, actorRole: known.role };
}

function named(name: string, { params, body }: Call): string | null {
  const value = fieldOf(params, name) ?? fieldOf(body, name);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}

function fieldOf(source: unknown, name: string): unknown {
  if (typeof source !== 'object' || source === null) return undefined;
  const entry = Object.entries(source).find(([key]) => key.toLowerCase() === name.toLowerCase());
  return entry?.[1];
}
