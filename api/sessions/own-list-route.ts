/** The list of the caller's own sessions, which every role may read. */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { limits } from '../../domain/limits.ts';
import { pageParameters } from '../../http/schemas.ts';
import { ownSessions } from '../../store/search/own-sessions.ts';
import { peopleOf } from '../identity/participants.ts';
import { defineRoute } from '../route.ts';
import { sessionListSchema } from './list-schema.ts';
import { presentListPage } from './present-overview.ts';

const mine = defineRoute({
  id: 'listOwnSessions',
  method: 'GET',
  path: '/api/v2/session/mine',
  summary: "Lists the caller's own sessions by page, newest first",
  description:
    'Those that the caller made and those in which the caller takes part: the sessions whose dashboards a Trainee may ' +
    `open. Rows are those of the list of all sessions. At most the newest ${limits.sessionsCounted} are listed.`,
  tags: ['Sessions'],
  access: access.sessionListOwn,
  query: z.object(pageParameters('Sessions')),
  responses: { 200: { description: 'One page.', schema: sessionListSchema } },
  async handler(context) {
    const { services, query } = context;
    const people = peopleOf(context);
    const found = await ownSessions(services.database, people.caller, query);
    return { status: 200, body: await presentListPage(found, query, people) };
  },
});

export const ownListRoutes = [mine];
