/** Session queries (contract: Session query model; decisions 13). Only bound parameters reach SQL. */
import type { OrderBy, SessionQuery } from '../../domain/sessions/session-query.ts';
import type { JsonObject } from '../../domain/text.ts';
import type { Database } from '../connection/database.ts';
import { countSessions } from './session-count.ts';
import {
  filterCondition,
  jsonAt,
  Parameters,
  type PeopleByAddress,
  propertyColumns,
} from './session-filter.ts';
import {
  countMatches,
  newestFirst,
  type OrderTerm,
  pageStatement,
  readPage,
  type Statement,
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
 * One page, and how many sessions the filter matches in all.
 * @param people the people of the addresses in the filter
 */
export async function querySessions(
  database: Database,
  query: SessionQuery,
  people: PeopleByAddress,
): Promise<{ rows: SessionQueryRow[]; totalCount: number }> {
  const page = readPage<SessionQueryRow>(database, queryStatement(query, people));
  if (query.filter === null) {
    const [{ rows }, totalCount] = await Promise.all([page, countSessions(database, {})]);
    return { rows, totalCount };
  }
  const { rows, total } = await page;
  if (total !== undefined || query.offset === 0) return { rows, totalCount: total ?? 0 };
  const parameters = new Parameters();
  const where = filterCondition(query.filter, people, parameters);
  return { rows, totalCount: await countMatches(database, where, parameters) };
}

/** The statement of one page. */
export function queryStatement(query: SessionQuery, people: PeopleByAddress): Statement {
  const { filter, orderBy, limit, offset } = query;
  const parameters = new Parameters();
  return pageStatement(
    {
      columns: `c.session_id as id, c.name, c.email_identifier, c.project_id,
        c.session_template_id, c.simulation_name, c.logo_url,
        c.user_id, c.created_at, c.metadata`,
      where: filter === null ? 'true' : filterCondition(filter, people, parameters),
      order: [...orderBy.flatMap((item) => orderTerms(item, parameters)), ...newestFirst],
      limit,
      offset,
      countsAll: filter !== null,
    },
    parameters,
  );
}

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
