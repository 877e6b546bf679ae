/** Who did what with a session, from the audit: for the people who work on it, without networks and requests. */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { auditActorKinds } from '../../domain/access/audit.ts';
import { Problem } from '../../domain/errors.ts';
import { exampleValues } from '../../domain/examples.ts';
import { auditQuerySchema, presentAuditPage } from '../../http/audit-schema.ts';
import { timestampOut } from '../../http/schemas.ts';
import { listAudit } from '../../store/administration/audit.ts';
import { findSession } from '../../store/sessions/sessions.ts';
import { peopleOf } from '../identity/participants.ts';
import { defineRoute } from '../route.ts';
import { sessionParams } from './schema.ts';

const activitySchema = z
  .object({
    entries: z.array(
      z.object({
        at: timestampOut(),
        action: z.string().meta({ description: 'The id of an operation of this document.' }),
        actor: z.object({
          kind: z.enum(auditActorKinds),
          id: z.string().nullable(),
          name: z.string().nullable().meta({
            description:
              'Name of a person whom the caller may see; null for others, and for what is no person.',
          }),
        }),
        object: z.object({ type: z.string(), id: z.string().nullable() }),
      }),
    ),
    nextCursor: z.string().nullable().meta({ description: 'Null on the last page.' }),
  })
  .meta({
    id: 'SessionActivity',
    example: {
      entries: [
        {
          at: exampleValues.processedAt,
          action: 'uploadNodeOutput',
          actor: { kind: 'user', id: exampleValues.userId, name: 'Maria Verdi' },
          object: { type: 'nodeInstance', id: String(exampleValues.inputNodeId) },
        },
      ],
      nextCursor: null,
    },
  });

const activity = defineRoute({
  id: 'listSessionActivity',
  method: 'GET',
  path: '/api/v2/session/{id}/activity',
  summary: 'Lists who did what with a session, newest first',
  description:
    'Uploads, retries, changes and everything else that was written to the session by a caller. What runners did is ' +
    'shown by its runs: `GET /api/v2/node-runs`.',
  tags: ['Sessions'],
  access: access.sessionList,
  params: sessionParams,
  query: auditQuerySchema.pick({ cursor: true, limit: true }),
  responses: { 200: { description: 'One page.', schema: activitySchema } },
  errors: ['sessionNotFound'],
  refusals: { params: 'sessionNotFound' },
  async handler(context) {
    const { services, params, query } = context;
    const { cursor, limit } = query;
    if ((await findSession(services.database, params.id)) === undefined) throw new Problem('sessionNotFound');
    const found = await listAudit(services.database, { sessionId: params.id }, cursor ?? null, limit + 1);
    const { entries, nextCursor } = presentAuditPage(found, limit);
    const people = peopleOf(context);
    await people.prefetch(entries.flatMap(({ actor }) => actor.id ?? []));
    const shown = entries.map(async ({ at, action, actor: { kind, id }, object }) => ({
      at,
      action,
      actor: { kind, id, name: kind === 'user' && id !== null ? await people.nameOf(id) : null },
      object,
    }));
    return { status: 200, body: { entries: await Promise.all(shown), nextCursor } };
  },
});

export const sessionActivityRoutes = [activity];
