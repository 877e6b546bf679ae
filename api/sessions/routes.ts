/**
 * Sessions: create, read, progress, and the routes of the neighbouring files (contract: Sessions; decisions 5).
 */
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { logoUrlOf } from '../../domain/sessions/session.ts';
import { defaultSessionName } from '../../domain/sessions/session-name.ts';
import type { Database } from '../../store/connection/database.ts';
import { findTemplate } from '../../store/registry/session-templates.ts';
import { sessionProgress } from '../../store/sessions/progress.ts';
import { createSession } from '../../store/sessions/sessions.ts';
import { peopleOf } from '../identity/participants.ts';
import { defineRoute } from '../route.ts';
import { sessionActivityRoutes } from './activity-route.ts';
import { adoptTemplateRoutes } from './adopt-route.ts';
import { sessionChangeRoutes } from './change-routes.ts';
import { sessionDetails } from './details.ts';
import { sessionListRoutes } from './list-routes.ts';
import { type LoadedSession, loadSession } from './load.ts';
import { hideAddresses, maxParticipants } from './metadata.ts';
import { sessionDetailsSchema } from './overview-schema.ts';
import { presentProgress, presentSession } from './present.ts';
import { sessionRepairRoutes } from './repair-route.ts';
import { createSessionSchema, progressSchema, sessionParams, sessionSchema } from './schema.ts';
import { sharedSessionRoutes } from './shared-routes.ts';

const tags = ['Sessions'] as const;
const params = sessionParams;

const create = defineRoute({
  id: 'createSession',
  method: 'POST',
  path: '/session',
  summary: 'Creates a session with its own node instances',
  description:
    'The session and its node instances are created from the current template. The participant is stored as an ' +
    'identifier, never as an address.',
  tags,
  access: access.sessionCreate,
  audit: { object: 'session' },
  idempotent: 'plain',
  body: createSessionSchema,
  bodyNames: 'PascalCase',
  responses: { 201: { description: 'The session.', schema: sessionSchema } },
  errors: ['invalidSessionRequest', 'projectNotFound', 'sessionTemplateNotFound'],
  refusals: { body: 'invalidSessionRequest' },
  async handler(context) {
    const { services, principal, body } = context;
    const people = peopleOf(context);
    // Addresses are resolved before the transaction, which must not wait for another service.
    const participant = await people.resolve(body.Email ?? principal.email);
    const metadata = body.Metadata ? await hideAddresses(body.Metadata, people, tooManyPeople) : null;
    const ids = { sessionTemplateId: body.SessionTemplateId, projectId: body.ProjectId };
    const session = {
      ...ids,
      name: body.Name ?? (await defaultName(services.database, body.SessionTemplateId)),
      simulationName: body.SimulationName ?? null,
      participant,
      userId: principal.userId,
      logoUrl: logoUrlOf(metadata),
      metadata,
    };
    let loading: Promise<LoadedSession> | undefined;
    const result = await createSession(services.database, session, (sent, id) => {
      loading = loadSession(sent, id, 'sessionNotFound', ids);
      // A transaction that fails is the error of this call.
      loading.catch(() => undefined);
    });
    if (result.outcome === 'project-missing') throw new Problem('projectNotFound');
    if (result.outcome === 'template-missing') throw new Problem('sessionTemplateNotFound');
    const made = await (loading ?? loadSession(services.database, result.sessionId));
    return { status: 201, body: await presentSession(made.session, made.nodes, people) };
  },
});

const tooManyPeople = () =>
  new Problem('invalidSessionRequest', {
    message: `Invalid session request. Metadata may name at most ${maxParticipants} participants.`,
  });

const one = defineRoute({
  id: 'getSession',
  method: 'GET',
  path: '/api/v2/sessions/{id}',
  summary: 'Returns a session',
  description: 'In the same form as at creation, with what lists show of its work.',
  tags,
  access: access.sessionRead,
  params,
  responses: { 200: { description: 'The session.', schema: sessionDetailsSchema } },
  errors: ['sessionNotFound'],
  refusals: { params: 'sessionNotFound' },
  async handler(context) {
    const { services, params } = context;
    return { status: 200, body: await sessionDetails(services.database, params.id, peopleOf(context)) };
  },
});

const progress = defineRoute({
  id: 'sessionProgress',
  method: 'GET',
  path: '/api/v2/session/{id}/node-instances',
  summary: "Returns the progress of a session's nodes",
  description:
    'State codes: 0 NeverBegan, 1 Processing, 2 Failed (statusDetails says why), 3 Succeeded, 4 Suspended, 5 Pending. ' +
    'A branch that never receives data stays NeverBegan.',
  tags,
  access: access.progressRead,
  params,
  responses: { 200: { description: 'The nodes in the order of the template.', schema: progressSchema } },
  errors: ['sessionNotFound'],
  refusals: { params: 'sessionNotFound' },
  async handler({ services, params }) {
    const nodes = await sessionProgress(services.database, params.id);
    if (nodes === undefined) throw new Problem('sessionNotFound');
    return { status: 200, body: presentProgress(params.id, nodes) };
  },
});

/** A template that does not exist is refused when the session is made. */
async function defaultName(database: Database, templateId: number): Promise<string> {
  const template = await findTemplate(database, templateId);
  return defaultSessionName(template?.name ?? '', new Date());
}

export const sessionRoutes = [
  create,
  one,
  progress,
  ...sessionListRoutes,
  ...sessionChangeRoutes,
  ...sharedSessionRoutes,
  ...sessionRepairRoutes,
  ...adoptTemplateRoutes,
  ...sessionActivityRoutes,
];
