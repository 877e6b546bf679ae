/** Shared sessions: create or join, close (contract: Shared session; decisions 6). */
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import { type CloseResult, closeSession } from '../../store/sessions/close-session.ts';
import { joinOrOpen } from '../../store/sessions/shared-sessions.ts';
import { windowTarget } from '../../workflows/targets.ts';
import { peopleOf } from '../identity/participants.ts';
import { defineRoute } from '../route.ts';
import { loadSession } from './load.ts';
import { presentSharedSession } from './present.ts';
import { sessionParams } from './schema.ts';
import {
  closeRequestSchema,
  closeResultSchema,
  sharedSessionQuerySchema,
  sharedSessionRequestSchema,
  sharedSessionSchema,
} from './shared-schema.ts';

const tags = ['Shared sessions'] as const;

const joinRefusals = {
  frozen: 'sessionFrozen',
  busy: 'sharedSessionBusy',
  'project-missing': 'projectNotFound',
  'template-missing': 'sessionTemplateNotFound',
} as const;
const retryAfter = { 'retry-after': String(limits.sharedSessionRetryAfterSeconds) };

const join = defineRoute({
  id: 'joinSharedSession',
  method: 'POST',
  path: '/api/v2/session/shared_session',
  summary: 'Joins the shared session of an exercise, or opens it',
  description:
    'A request joins the newest open session with the same project, name, simulationName, sessionTemplateId, ' +
    'machineGroup and timeWindowSeconds whose window overlaps its own. Windows are half-open: [start, start + seconds).',
  tags,
  access: access.sharedSession,
  audit: { object: 'session' },
  idempotent: 'plain',
  query: sharedSessionQuerySchema,
  body: sharedSessionRequestSchema,
  responses: {
    201: { description: 'The session that was opened.', schema: sharedSessionSchema },
    200: { description: 'The session that was joined.', schema: sharedSessionSchema },
  },
  errors: ['sessionFrozen', 'projectNotFound', 'sessionTemplateNotFound', 'sharedSessionBusy'],
  async handler(context) {
    const { services, principal, query, body } = context;
    const people = peopleOf(context);
    const { email, startTimeUtc, ...key } = body;
    // Addresses are resolved before any lock, which must not wait for another service.
    const participant = await people.resolve(email);
    const result = await joinOrOpen(services.database, {
      key: { ...key, projectId: query.projectId },
      startAt: startTimeUtc,
      participant,
      userId: principal.userId,
    });
    if (result.outcome !== 'created' && result.outcome !== 'joined') {
      const problem = joinRefusals[result.outcome];
      throw new Problem(problem, problem === 'sharedSessionBusy' ? { headers: retryAfter } : {});
    }
    if (result.notifyWindow) services.workflows.notify(windowTarget(result.notifyWindow));
    const { session, nodes } = await loadSession(services.database, result.sessionId);
    return {
      status: result.outcome === 'created' ? 201 : 200,
      body: await presentSharedSession(session, nodes, people),
    };
  },
});

const closeRefusals = {
  missing: 'sessionNotFound',
  'not-a-participant': 'notAParticipant',
  'time-out-of-range': 'invalidRequest',
} as const;

const close = defineRoute({
  id: 'closeSession',
  method: 'POST',
  path: '/api/v2/session/{id}/close',
  aliases: ['/session/{id}/close'],
  summary: 'Closes a session; a repeat gets the first result',
  description:
    'A participant closes it, named by `email` or by the token. An Administrator may close any session, with an access ' +
    'token and without `email`. With a later `closeAt`, the session accepts no joins from now on and closes at that time.',
  tags,
  access: access.sharedSession,
  audit: { object: 'session', from: 'id' },
  params: sessionParams,
  body: closeRequestSchema,
  responses: { 200: { description: 'The result of the close.', schema: closeResultSchema } },
  errors: ['sessionNotFound', 'notAParticipant'],
  refusals: { params: 'sessionNotFound' },
  async handler(context) {
    const { services, principal, params, body } = context;
    const people = peopleOf(context);
    const isNamed = body.email !== undefined;
    const result = await closeSession(services.database, {
      sessionId: params.id,
      person: body.email === undefined ? people.caller : await people.resolve(body.email),
      mayCloseAny: !isNamed && principal.kind === 'access' && principal.role === 'Administrator',
      reason: body.reason ?? null,
      closeAt: body.closeAt ?? null,
    });
    const { closed, notifyWindow } = closedOrThrow(result);
    if (notifyWindow) services.workflows.notify(windowTarget(notifyWindow));
    return {
      status: 200,
      body: {
        id: params.id,
        status: 'closed',
        participantCount: closed.participantCount,
        closedAt: formatTimestamp(closed.closedAt),
        closedBy: await people.show(closed.closedBy),
      },
    };
  },
});

function closedOrThrow(result: CloseResult): Extract<CloseResult, { outcome: 'closed' }> {
  if (result.outcome === 'closed') return result;
  throw new Problem(
    closeRefusals[result.outcome],
    result.outcome === 'time-out-of-range'
      ? { message: "closeAt must lie between the session's start and 24 hours from now." }
      : {},
  );
}

export const sharedSessionRoutes = [join, close];
