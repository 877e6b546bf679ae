/** Session queries (contract: Session query model; decisions 13). Only bound parameters reach SQL. */
import type { OrderBy, SessionQuery } from '../domain/session-query.ts';
import type { JsonObject } from '../domain/text.ts';
import type { Database } from './database.ts';
import {
  filterCondition,
  jsonAt,
  Parameters,
  type PeopleByAddress,
  propertyColumns,
} from './session-filter.ts';
import { countSessions } from './session-tally.ts';

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
 * @param people who is meant by the addresses in the filter
 */
export async function querySessions(
  database: Database,
  query: SessionQuery,
  people: PeopleByAddress,
): Promise<{ rows: SessionQueryRow[]; totalCount: number }> {
  const [rows, totalCount] = await Promise.all([
    queryPage(database, query, people),
    countMatches(database, query, people),
  ]);
  return { rows, totalCount };
}

/** The statement of one page, for measuring too. */
export function pageStatement(
  query: SessionQuery,
  people: PeopleByAddress,
): { readonly text: string; readonly values: readonly unknown[] } {
  const parameters = new Parameters();
  const where = query.filter === null ? 'true' : filterCondition(query.filter, people, parameters);
  const text = `
    select c.session_id as id, c.name, c.email_identifier as "emailIdentifier", c.project_id as "projectId",
           c.session_template_id as "sessionTemplateId", c.simulation_name as "simulationName",
           c.logo_url as "logoUrl", c.user_id as "userId", c.created_at as "createdAt", c.metadata
      from session_card c
     where ${where}
     order by ${orderClause(query.orderBy, parameters)}
     limit ${parameters.bind(query.limit, 'bigint')} offset ${parameters.bind(query.offset, 'bigint')}`;
  return { text, values: parameters.values };
}

async function queryPage(database: Database, query: SessionQuery, people: PeopleByAddress) {
  const { text, values } = pageStatement(query, people);
  return database.queryAnew<SessionQueryRow>(text, values);
}

async function countMatches(database: Database, { filter }: SessionQuery, people: PeopleByAddress) {
  if (filter === null) return countSessions(database, {});
  const parameters = new Parameters();
  const where = filterCondition(filter, people, parameters);
  const [row] = await database.queryAnew<{ count: number }>(
    `select count(*) as count from session_card c where ${where}`,
    parameters.values,
  );
  return row?.count ?? 0;
}

function orderClause(orderBy: readonly OrderBy[], parameters: Parameters): string {
  const parts = orderBy.map(({ place, direction }) =>
    place.kind === 'property'
      ? propertyOrder(propertyColumns[place.property], place.property === 'simulationName', direction)
      : metadataOrder(jsonAt('c.metadata', place.keys, parameters), direction),
  );
  return [...parts, 'c.created_at desc, c.session_id desc'].join(', ');
}

/** What is missing comes last either way. */
function propertyOrder(column: string, isNullable: boolean, direction: string): string {
  return `${column} ${direction}${isNullable ? ' nulls last' : ''}`;
}

/** Numbers, then texts, then truth values, each in the direction asked for; all else counts as missing, and is last. */
function metadataOrder(at: string, direction: string): string {
  const is = (type: string) => `jsonb_typeof(${at}) = '${type}'`;
  return `case when ${is('number')} then 1 when ${is('string')} then 2 when ${is('boolean')} then 3 else 4 end,
    case when ${is('number')} then ${at}::numeric end ${direction},
    case when ${is('string')} then ${at} #>> '{}' end collate "C" ${direction},
    case when ${is('boolean')} then ${at}::boolean end ${direction}`;
}
