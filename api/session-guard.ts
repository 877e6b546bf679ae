/**
 * Which sessions a Trainee may read: decided here for every route, by the table of domain/access/session-access.ts,
 * before its handler runs, and again while it streams. A session that a Trainee may not see is answered like one that
 * does not exist.
 */

import { decideAccess, type GuardedRule } from '../domain/access/access.ts';
import { sessionRules } from '../domain/access/session-access.ts';
import { Problem } from '../domain/errors.ts';
import type { HeaderValues } from '../domain/outputs/output-headers.ts';
import { readUploadMetadata } from '../domain/outputs/tus.ts';
import type { Call, RouteMiddleware } from '../http/call.ts';
import type { Route } from '../http/route.ts';
import { sessionOf } from '../store/sessions/session-of.ts';
import { isSessionMember } from '../store/sessions/sessions.ts';
import type { Principal } from './identity/auth-client.ts';
import { peopleOf } from './identity/participants.ts';
import type { RunnerPrincipal } from './runner-tokens/principal.ts';
import type { OpenServices } from './services.ts';

type Needed = Pick<OpenServices, 'auth' | 'database' | 'settings'>;
type GuardedCall = Pick<Call, 'params' | 'headers' | 'requestId'>;

/** Refuses before the handler. Runner tokens reach only runner routes, which no Trainee's token reaches. */
export function withinOwnSessions(services: Needed): RouteMiddleware {
  return (route) =>
    async ({ state }, next) => {
      const principal = state.principal as Principal | RunnerPrincipal | null;
      const isPerson = principal !== null && principal.kind !== 'runner';
      if (isPerson && !(await isAdmitted(services, route.id, state, principal)))
        throw new Problem(route.refusals?.params ?? 'notFound');
      await next();
    };
}

/**
 * Whether the caller of an endless reply may still read it: the token may have ended, the role may be another one, or
 * the session no longer the caller's.
 * @param route the reply's route, by its id and its row of the access table
 */
export async function isStillAllowed(
  services: Needed,
  route: { readonly id: string; readonly access: GuardedRule },
  call: GuardedCall & { readonly principal: Principal },
): Promise<boolean> {
  const person = await services.auth.identify(call.principal.bearer, call.requestId);
  return (await refusalNow(services, route, call, person)) === null;
}

/**
 * What a call that is under way would be refused with if it came now; null where it would be admitted.
 * @param person whom its token belongs to now; null where it is of none
 */
export async function refusalNow(
  services: Needed,
  route: Pick<Route, 'id' | 'access' | 'refusals'>,
  call: GuardedCall,
  person: Principal | null,
): Promise<Problem | null> {
  if (route.access.open) return null;
  if (person === null) return new Problem('unauthorized');
  const decision = decideAccess(route.access, person);
  if (!decision.allowed) return new Problem(decision.problem);
  // Its path is not read yet, and the check before its handler is still to come.
  if (call.params === undefined || Object.keys(call.params as object).length === 0) return null;
  const isOwn = await isAdmitted(services, route.id, call, person);
  return isOwn ? null : new Problem(route.refusals?.params ?? 'notFound');
}

async function isAdmitted(
  services: Needed,
  routeId: string,
  { params, headers, requestId }: GuardedCall,
  principal: Principal,
): Promise<boolean> {
  if (principal.role !== 'Trainee') return true;
  const rule = sessionRules[routeId];
  const isEverybodys = services.settings.TRAINEE_DATA === 'all';
  // A route that the table does not know shows a Trainee nothing.
  if (rule === undefined) return isEverybodys;
  if ('notHere' in rule || (isEverybodys && rule.always !== true)) return true;
  if (rule.withIdentifierIn !== undefined && !namesOutput(headers, rule.withIdentifierIn)) return true;
  const id = (params as Readonly<Record<string, string | number>>)[rule.from];
  if (id === undefined) return false;
  const sessionId = await sessionOf(services.database, rule.of, id);
  if (sessionId === undefined) return false;
  const { caller } = peopleOf({ services, principal, requestId });
  return await isSessionMember(services.database, sessionId, caller);
}

/** @throws Problem `invalidRequest` for metadata that cannot be read, as the handler does */
function namesOutput(headers: HeaderValues, where: 'headers' | 'upload-metadata'): boolean {
  const outputHeaders = where === 'headers' ? headers : readUploadMetadata(headers);
  return outputHeaders['x-platform-output-identifier'] !== undefined;
}
