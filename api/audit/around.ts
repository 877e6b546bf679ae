/** One audit entry for each acknowledged call of a route that writes (domain/access/audit.ts), written by store/administration/audit-scope.ts. */
import { auditRules } from '../../domain/access/audit.ts';
import type { GuardOptions, Handled } from '../../http/guard.ts';
import type { Reply } from '../../http/route.ts';
import { clientNetwork } from '../../http/server/client-address.ts';
import { type AuditedCall, runAudited } from '../../store/administration/audit-scope.ts';
import type { Principal } from '../identity/auth-client.ts';
import type { RunnerPrincipal } from '../runner-tokens/principal.ts';
import type { OpenServices } from '../services.ts';

type Around = NonNullable<GuardOptions<unknown>['around']>;
type Who = Pick<AuditedCall, 'actorKind' | 'actorId' | 'actorRole'>;

const isAcknowledged = (reply: Reply) => reply.status < 400;

export function auditing({ database, settings }: Pick<OpenServices, 'database' | 'settings'>): Around {
  return async function audited(route, handled, run) {
    const rule = route.method === 'GET' ? undefined : auditRules[route.id];
    if (rule === undefined || 'notHere' in rule) return await run();
    const { remoteAddress, headers, requestId } = handled.call;
    const call: AuditedCall = {
      action: route.id,
      ...whoOf(handled),
      objectType: rule.object,
      objectId: rule.from === undefined ? null : named(rule.from, handled),
      requestId,
      network: clientNetwork(remoteAddress, headers['x-forwarded-for'], settings.TRUSTED_PROXIES),
    };
    return await runAudited(database, call, run, isAcknowledged);
  };
}

/** Open routes that write belong to managed ingests, which name themselves. */
function whoOf({ principal }: Handled): Who {
  if (principal === null) return { actorKind: 'ingest', actorId: null, actorRole: null };
  const known = principal as unknown as Principal | RunnerPrincipal;
  if (known.kind === 'runner') return { actorKind: 'runner', actorId: known.tokenId, actorRole: known.role };
  const actorKind = known.kind === 'offline' ? 'device' : 'user';
  return { actorKind, actorId: known.userId, actorRole: known.role };
}

function named(name: string, { params, body }: Handled): string | null {
  const value = fieldOf(params, name) ?? fieldOf(body, name);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}

function fieldOf(source: unknown, name: string): unknown {
  if (typeof source !== 'object' || source === null) return undefined;
  const entry = Object.entries(source).find(([key]) => key.toLowerCase() === name.toLowerCase());
  return entry?.[1];
}
