/** The structured search over sessions (contract: Session query model; decisions 13). */
import type { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { addressesIn } from '../../domain/sessions/filter-people.ts';
import { normaliseAddress, type Person } from '../../domain/sessions/participant.ts';
import { QueryFault } from '../../domain/sessions/session-filter.ts';
import { readSessionQuery, type SessionQuery } from '../../domain/sessions/session-query.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import { slices } from '../../http/turns.ts';
import { querySessions, type SessionQueryRow } from '../../store/search/session-query.ts';
import { type People, peopleOf } from '../identity/participants.ts';
import { inMetadataReads } from '../long-reads.ts';
import { defineRoute } from '../route.ts';
import { peopleIn, showAddresses } from '../sessions/metadata.ts';
import { invalidQuerySchema, sessionQueryReplySchema, sessionQuerySchema } from './schema.ts';

const presentedAtOnce = 5;

const query = defineRoute({
  id: 'querySessions',
  method: 'POST',
  path: '/api/sessions/query',
  summary: 'Queries sessions by a filter over properties and metadata',
  description: '`errors` reports each fault of the query with the JSON path of its node.',
  tags: ['Sessions'],
  access: access.sessionQuery,
  audit: { notHere: 'Read-only.' },
  readOnly: true,
  body: sessionQuerySchema,
  responses: { 200: { description: 'One page.', schema: sessionQueryReplySchema } },
  errors: ['invalidRequest'],
  errorBodies: { invalidRequest: invalidQuerySchema },
  async handler(context) {
    const { services, body } = context;
    const wanted = readQuery(body === undefined ? {} : body, context.principal.userId);
    const people = peopleOf(context);
    const addresses = await resolveAddresses(wanted, people);
    const { limit, offset } = wanted;
    const read = async () => {
      const { rows, total } = await querySessions(services.database, wanted, addresses);
      await people.prefetch(rows.flatMap((row) => [row.emailIdentifier, ...peopleIn(row.metadata ?? {})]));
      return { sessions: await presentRows(rows, people), total };
    };
    const { sessions, total } = await (limit > limits.queryLimitDefault
      ? inMetadataReads(context.principal.userId, context.signal, read)
      : read());
    return {
      status: 200,
      body: {
        status: true,
        message: 'OK',
        template: { sessions, totalCount: total.count, totalCountIsExact: total.isExact, limit, offset },
      },
    };
  },
});

function readQuery(body: unknown, callerId: string): SessionQuery {
  try {
    return readSessionQuery(body, callerId);
  } catch (error) {
    if (!(error instanceof QueryFault)) throw error;
    const { path, message } = error;
    throw new Problem('invalidRequest', {
      message: `${path}: ${message}`,
      fields: { errors: [{ path, message }] },
    });
  }
}

/** The people behind the addresses of a filter. Each may cost a call to the authentication service. */
async function resolveAddresses({ filter }: SessionQuery, people: People): Promise<Map<string, Person>> {
  const found = new Map<string, Person>();
  if (filter === null) return found;
  const addresses = new Set([...addressesIn(filter)].map(normaliseAddress));
  if (addresses.size > limits.queryAddresses) {
    const message = `A filter must name at most ${limits.queryAddresses} addresses.`;
    throw new Problem('invalidRequest', {
      message: `$.filter: ${message}`,
      fields: { errors: [{ path: '$.filter', message }] },
    });
  }
  for (const address of addresses) found.set(address, await people.resolve(address));
  return found;
}

type WireRow = z.input<typeof sessionQueryReplySchema>['template']['sessions'][number];

/** In slices: metadata of hundreds of sessions, each as long as it may be, takes seconds to write out. */
async function presentRows(rows: readonly SessionQueryRow[], people: People): Promise<WireRow[]> {
  const pause = slices();
  const presented: WireRow[] = [];
  for (let at = 0; at < rows.length; at += presentedAtOnce) {
    const some = rows.slice(at, at + presentedAtOnce).map((row) => presentRow(row, people));
    presented.push(...(await Promise.all(some)));
    await pause();
  }
  return presented;
}

async function presentRow(row: SessionQueryRow, people: People): Promise<WireRow> {
  const { emailIdentifier, createdAt, metadata, ...rest } = row;
  return {
    ...rest,
    email: await people.show(emailIdentifier),
    createdAt: formatTimestamp(createdAt),
    metadataJson: metadata && JSON.stringify(await showAddresses(metadata, people)),
  };
}

export const sessionQueryRoutes = [query];
