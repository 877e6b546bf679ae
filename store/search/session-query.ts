/** Session queries (contract: Session query model; decisions 13). Only bound parameters reach SQL. */
import type { OrderBy, SessionQuery } from '../../domain/sessions/session-query.ts';
import type { JsonObject } from '../../domain/text.ts';
import type { Database } from '../connection/database.ts';
import type { Parameters } from '../connection/parameters.ts';
import { countSessions } from './session-count.ts';
import { filterCondition, jsonAt, type PeopleByAddress, propertyColumns } from './session-filter.ts';
import {
  type Count,
  newestFirst,
  type OrderTerm,
  type PageParts,
  pageStatement,
  readPage,
  type SearchBounds,
  type Statement,
  searchPage,
} from './session-page.ts';

export interface SessionQueryRow {
  readonly id: string;
  readonly name: string;
  /** GUID or anonymous key. */
  readonly emailIdentifier: string;
  readonly projectId: number;
  readonly sessionTemplateId: number;
  readonly simulationName: string | null;
  readonly logoUrl: string;
  readonly userId: string;
  readonly createdAt: Date;
  /** As shown, with identifiers. */
  readonly metadata: JsonObject | null;
}

/**
 * One page, and how many sessions the filter matches: exactly without a filter, with one to a bound.
 * @param people the people of the addresses in the filter
 */
export async function querySessions(
  database: Database,
  query: SessionQuery,
  people: PeopleByAddress,
  bounds?: SearchBounds,
): Promise<{ rows: SessionQueryRow[]; total: Count }> {
  if (query.filter !== null) return searchPage<SessionQueryRow>(database, partsOf(query, people), bounds);
  const page = readPage<SessionQueryRow>(database, queryStatement(query, people));
  const [{ rows }, count] = await Promise.all([page, countSessions(database, {})]);
  return { rows, total: { count, isExact: true } };
}

/** The statement of one page, without the number of all. */
export const queryStatement = (query: SessionQuery, people: PeopleByAddress): Statement =>
  pageStatement(partsOf(query, people));

function partsOf({ filter, orderBy, limit, offset }: SessionQuery, people: PeopleByAddress): PageParts {
  return {
    columns: `c.session_id as id, c.name, c.email_identifier, c.project_id,
      c.session_template_id, c.simulation_name, c.logo_url,
      c.user_id, c.created_at, c.metadata`,
    where: (parameters) => (filter === null ? 'true' : filterCondition(filter, people, parameters)),
    order: (parameters) => [...orderBy.flatMap((item) => orderTerms(item, parameters)), ...newestFirst],
    isIndexed: orderBy.length === 0 || (orderBy.length === 1 && isByDate(orderBy[0]!)),
    limit,
    offset,
  };
}

const isByDate = ({ place }: OrderBy) => place.kind === 'property' && place.property === 'createdAt';

function orderTerms({ place, direction }: OrderBy, parameters: Parameters): OrderTerm[] {
  return place.kind === 'property'
    ? [{ sql: propertyColumns[place.property], direction, nullable: place.property === 'simulationName' }]
    : metadataTerms(jsonAt('c.metadata', place.keys, parameters), direction);
}

/** Numbers, then texts, then truth values, each in the requested direction; all else counts as missing, and is last. */
function metadataTerms(at: string, direction: 'asc' | 'desc'): OrderTerm[] {
  const is = (type: string) => `jsonb_typeof(${at}) = '${type}'`;
  return [
    {
      sql: `case when ${is('number')} then 1 when ${is('string')} then 2 when ${is('boolean')} then 3 end`,
      direction: 'asc',
      nullable: true,
    },
    { sql: `case when ${is('number')} then ${at}::numeric end`, direction, nullable: true },
    { sql: `case when ${is('string')} then ${at} #>> '{}' end collate "C"`, direction, nullable: true },
    { sql: `case when ${is('boolean')} then ${at}::boolean end`, direction, nullable: true },
  ];
}
