/** Changes to a session as a whole: update, freeze, unfreeze, delete (contract: Sessions; decisions 5). */
import type { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import type { Person } from '../../domain/sessions/participant.ts';
import { defaultIngestionNodeId } from '../../domain/sessions/session.ts';
import { withoutPlatformKeys } from '../../domain/sessions/shared-session.ts';
import { isEmail, type JsonObject } from '../../domain/text.ts';
import { snakeValue } from '../../http/bodies/snake-case.ts';
import { deleteSession, markSessionEnded } from '../../store/sessions/delete-session.ts';
import { freezeSession, unfreezeSession } from '../../store/sessions/freeze-session.ts';
import { findSession } from '../../store/sessions/sessions.ts';
import { updateSession } from '../../store/sessions/update-session.ts';
import type { Principal } from '../identity/auth-client.ts';
import { type People, peopleOf } from '../identity/participants.ts';
import { defineRoute } from '../route.ts';
import type { Services } from '../services.ts';
import { admitTrainee } from './admit-trainee.ts';
import { sessionDetails } from './details.ts';
import { type LoadedSession, loadSession } from './load.ts';
import { hideAddresses } from './metadata.ts';
import { sessionDetailsSchema } from './overview-schema.ts';
import { presentSession } from './present.ts';
import { sessionParams } from './schema.ts';
import { updatedSession, updatedSessionSchema, updateSessionSchema } from './update-schema.ts';

const tags = ['Sessions'] as const;
const params = sessionParams;

const update = defineRoute({
  id: 'updateSession',
  method: 'PATCH',
  path: '/api/v2/sessions/{id}',
  summary: 'Updates a session; an absent field does not change',
  description:
    "`metadata` replaces the metadata written by callers. On shared sessions the platform's keys (status, window, " +
    'people, close) are ignored. A Trainee must be a participant, and cannot change the priority.',
  tags,
  access: access.sessionUpdate,
  audit: { object: 'session', from: 'id' },
  params,
  body: updateSessionSchema,
  responses: { 200: { description: 'The session.', schema: updatedSessionSchema } },
  errors: ['sessionNotFoundOnUpdate', 'invalidSessionData', 'notAParticipant', 'forbidden'],
  refusals: { params: 'sessionNotFoundOnUpdate', body: 'invalidSessionData' },
  async handler(context) {
    const { services, params, principal, body } = context;
    const { database } = services;
    const people = peopleOf(context);
    await admitTrainee(database, params.id, principal, people, 'sessionNotFoundOnUpdate');
    if (body.priority != null && principal.role === 'Trainee') throw new Problem('forbidden');
    // Addresses are resolved before the transaction, which must not wait for another service.
    const metadata = body.metadata && (await callersPart(database, params.id, body.metadata, people));
    const person = await newPerson(database, params.id, body.email, people);
    const outcome = await updateSession(database, params.id, {
      name: body.name ?? undefined,
      person,
      simulationName: body.simulation_name,
      sessionTemplateId: body.session_template_id ?? undefined,
      projectId: body.project_id ?? undefined,
      priority: body.priority ?? undefined,
      metadata,
    });
    if (outcome === 'missing') throw new Problem('sessionNotFoundOnUpdate');
    if (outcome === 'invalid') throw new Problem('invalidSessionData');
    const loaded = await loadSession(database, params.id, 'sessionNotFoundOnUpdate');
    return { status: 200, body: await presentUpdatedSession(loaded, people) };
  },
});

/** The metadata that a caller may write, with identifiers in place of addresses. */
async function callersPart(
  database: Services['database'],
  sessionId: string,
  metadata: JsonObject,
  people: People,
): Promise<JsonObject> {
  const session = await findSession(database, sessionId);
  const own = session?.isShared ? withoutPlatformKeys(metadata) : metadata;
  return hideAddresses(own, people, () => new Problem('invalidSessionData'));
}

/** The person of an address. The identifier that the session shows in place of an address changes nothing. */
async function newPerson(
  database: Services['database'],
  sessionId: string,
  email: string | null | undefined,
  people: People,
): Promise<Person | undefined> {
  if (email == null) return undefined;
  if (isEmail(email)) return people.resolve(email);
  const session = await findSession(database, sessionId);
  if (session !== undefined && session.emailIdentifier !== email) throw new Problem('invalidSessionData');
  return undefined;
}

const freeze = defineRoute({
  id: 'freezeSession',
  method: 'POST',
  path: '/api/v2/sessions/{id}/freeze',
  summary: 'Freezes a session: no uploads, joins, reprocessing or claims',
  description: 'Held tasks may finish. Freezing a frozen session changes nothing.',
  tags,
  access: access.sessionFreeze,
  audit: { object: 'session', from: 'id' },
  params,
  responses: { 200: { description: 'The session.', schema: sessionDetailsSchema } },
  errors: ['sessionNotFound'],
  refusals: { params: 'sessionNotFound' },
  handler: (context) => changeFrozen(context, freezeSession),
});

const unfreeze = defineRoute({
  id: 'unfreezeSession',
  method: 'POST',
  path: '/api/v2/sessions/{id}/unfreeze',
  summary: 'Unfreezes a session',
  description: 'Waiting runs continue at once. A session that is not frozen does not change.',
  tags,
  access: access.sessionFreeze,
  audit: { object: 'session', from: 'id' },
  params,
  responses: { 200: { description: 'The session.', schema: sessionDetailsSchema } },
  errors: ['sessionNotFound'],
  refusals: { params: 'sessionNotFound' },
  handler: (context) => changeFrozen(context, unfreezeSession),
});

async function changeFrozen(
  context: {
    readonly services: Services;
    readonly principal: Principal;
    readonly requestId: string;
    readonly params: { readonly id: string };
  },
  change: typeof freezeSession,
) {
  const { services, params } = context;
  if ((await change(services.database, params.id)) === undefined) throw new Problem('sessionNotFound');
  const body = await sessionDetails(services.database, params.id, peopleOf(context));
  return { status: 200, body } as const;
}

const remove = defineRoute({
  id: 'deleteSession',
  method: 'DELETE',
  path: '/api/v2/sessions/{id}',
  summary: 'Deletes a session with its nodes, outputs, dashboards and workflows',
  description: 'This cannot be undone. Its held tasks answer 404 from then on.',
  tags,
  access: access.sessionDelete,
  audit: { object: 'session', from: 'id' },
  params,
  responses: { 204: { description: 'Gone.' } },
  errors: ['sessionNotFound'],
  refusals: { params: 'sessionNotFound' },
  async handler({ services, params, log }) {
    if (!(await deleteSession(services.database, params.id))) throw new Problem('sessionNotFound');
    try {
      await services.workflows.endSession(params.id);
      await markSessionEnded(services.database, params.id);
    } catch (error) {
      // The healer ends them when the workflow engine answers again.
      log.warn({ sessionId: params.id, error: String(error) }, 'workflows of a deleted session not ended');
    }
    return { status: 204 };
  },
});

export const sessionChangeRoutes = [update, freeze, unfreeze, remove];

/** The session in snake_case. */
async function presentUpdatedSession(
  { session, nodes }: LoadedSession,
  people: People,
): Promise<z.input<typeof updatedSessionSchema>> {
  return snakeValue(updatedSession, {
    ...(await presentSession(session, nodes, people)),
    defaultIngestionNodeId: defaultIngestionNodeId(nodes, session.sessionTemplate.configuration),
  });
}
