/**
 * Which sessions a Trainee may read: decided here for every route, by the table of domain/access/session-access.ts,
 * before its handler runs. A session that a Trainee may not see is answered like one that does not exist.
 */

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

/** Refuses before the handler. Runner tokens reach only runner routes, which no Trainee's token reaches. */
export function withinOwnSessions(services: Needed): RouteMiddleware {
  return (route) =>
    async ({ state }, next) => {
      const principal = state.principal as Principal | RunnerPrincipal | null;
      const isTrainee = principal?.role === 'Trainee' && principal.kind !== 'runner';
      if (isTrainee && !(await isAdmitted(services, route, state, principal)))
        throw new Problem(route.refusals?.params ?? 'notFound');
      await next();
    };
}

async function isAdmitted(
  services: Needed,
  route: Route,
  { params, headers, requestId }: Call,
  principal: Principal,
): Promise<boolean> {
  const rule = sessionRules[route.id];
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
