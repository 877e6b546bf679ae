/** Lists of sessions: one page, how many there are by tab, and the metadata keys that they have. */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { limits } from '../../domain/limits.ts';
import { metadataKeys } from '../../domain/sessions/metadata-keys.ts';
import { inTimeOrder, pageParameters } from '../../http/schemas.ts';
import { slices } from '../../http/turns.ts';
import { ownSessions } from '../../store/search/own-sessions.ts';
import { countListed, listSessions, type SessionListFilters } from '../../store/search/session-list.ts';
import { newestMetadata } from '../../store/search/session-metadata.ts';
import { peopleOf } from '../identity/participants.ts';
import { inMetadataReads } from '../long-reads.ts';
import { defineRoute } from '../route.ts';
import {
  metadataKeysQuerySchema,
  metadataKeysSchema,
  sessionCountsQuerySchema,
  sessionCountsSchema,
  sessionListQuerySchema,
  sessionListSchema,
} from './list-schema.ts';
import { presentListPage } from './present-overview.ts';
import { storageRoute } from './storage-route.ts';

const tags = ['Sessions'] as const;

const list = defineRoute({
  id: 'listSessions',
  method: 'GET',
  path: '/api/v2/session',
  summary: 'Lists sessions by page, with search, filters and order',
  description:
    'Rows show identifiers and names, never addresses. Sessions that back system dashboards are not listed. Equal ' +
    'rows are ordered by id, so that paging neither repeats nor skips.',
  tags,
  access: access.sessionList,
  query: inTimeOrder(sessionListQuerySchema),
  responses: { 200: { description: 'One page.', schema: sessionListSchema } },
  async handler(context) {
    const { services, principal, query } = context;
    const { state: states, owner, ...rest } = query;
    const ownerId = owner === 'me' ? principal.userId : owner;
    const found = await listSessions(services.database, { ...rest, states, ownerId });
    return { status: 200, body: await presentListPage(found, query, peopleOf(context)) };
  },
});

const mine = defineRoute({
  id: 'listOwnSessions',
  method: 'GET',
  path: '/api/v2/session/mine',
  summary: "Lists the caller's own sessions by page, newest first",
  description:
    'Those that the caller made and those in which the caller takes part: the sessions whose dashboards a Trainee may ' +
    `open. Rows are those of the list of all sessions. At most the newest ${limits.sessionsCounted} are listed.`,
  tags,
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

const counts = defineRoute({
  id: 'countSessions',
  method: 'GET',
  path: '/api/v2/session/counts',
  summary: 'Counts sessions: all, running, failed, and those of the caller',
  description:
    'Counts the sessions that the filters match. A count that is not exact says that there are more.',
  tags,
  access: access.sessionList,
  query: inTimeOrder(sessionCountsQuerySchema),
  responses: { 200: { description: 'The counts.', schema: sessionCountsSchema } },
  async handler({ services, principal, query }) {
    const count = (filters: SessionListFilters) => countListed(services.database, { ...query, ...filters });
    const [all, running, failed, mine] = await Promise.all([
      count({}),
      count({ states: ['running'] }),
      count({ states: ['failed'] }),
      count({ ownerId: principal.userId }),
    ]);
    return { status: 200, body: { all, running, failed, mine } };
  },
});

const keys = defineRoute({
  id: 'listSessionMetadataKeys',
  method: 'GET',
  path: '/api/v2/session/metadata-keys',
  summary: 'Lists the paths that the metadata of sessions have, with sample values',
  description:
    'Of the newest sessions, the most frequent paths first. People in metadata, and names with a dot in them, are ' +
    'left out.',
  tags,
  access: access.sessionList,
  query: metadataKeysQuerySchema,
  responses: { 200: { description: 'The paths.', schema: metadataKeysSchema } },
  async handler({ services, query, principal, signal }) {
    const keys = await inMetadataReads(principal.userId, signal, async () =>
      metadataKeys(await newestMetadata(services.database, query.projectId), slices()),
    );
    return { status: 200, body: { keys } };
  },
});

export const sessionListRoutes = [list, mine, counts, keys, storageRoute];
