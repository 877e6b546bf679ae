/** Lists of sessions: one page, how many there are by tab, and the metadata keys that they have. */
import { access } from '../../domain/access/access.ts';
import { metadataKeys } from '../../domain/sessions/metadata-keys.ts';
import { inTimeOrder } from '../../http/schemas.ts';
import { countListed, listSessions, type SessionListFilters } from '../../store/search/session-list.ts';
import { newestMetadata } from '../../store/search/session-metadata.ts';
import { peopleOf } from '../identity/participants.ts';
import { defineRoute } from '../route.ts';
import {
  metadataKeysQuerySchema,
  metadataKeysSchema,
  sessionCountsQuerySchema,
  sessionCountsSchema,
  sessionListQuerySchema,
  sessionListSchema,
} from './list-schema.ts';
import { ownListRoutes } from './own-list-route.ts';
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

const counts = defineRoute({
  id: 'countSessions',
  method: 'GET',
  path: '/api/v2/session/counts',
  summary: 'Counts sessions: all, running, failed, and those of the caller',
  description: 'Of the sessions that the filters match. A count that is not exact says that there are more.',
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
  async handler({ services, query }) {
    return {
      status: 200,
      body: { keys: metadataKeys(await newestMetadata(services.database, query.projectId)) },
    };
  },
});

export const sessionListRoutes = [list, ...ownListRoutes, counts, keys, storageRoute];
