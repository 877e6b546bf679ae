/** The session list: search, order and pages (contract: Session list; decisions 5). */
import type { JsonObject } from '../domain/text.ts';
import type { Database } from './database.ts';
import { escapeLike } from './like.ts';
import { Parameters } from './session-filter.ts';
import { countSessions } from './session-tally.ts';

export interface SessionListQuery {
  readonly projectId?: number | undefined;
  readonly sessionTemplateId?: number | undefined;
  /** Part of name, simulation name or id, in any case; every character stands for itself. */
  readonly search?: string | undefined;
  readonly sortBy: 'date' | 'name';
  readonly sortOrder: 'asc' | 'desc';
  /** From 1. */
  readonly page: number;
  readonly pageSize: number;
}

export interface SessionListRow {
  readonly id: string;
  readonly name: string;
  readonly simulationName: string | null;
  readonly projectId: number;
  readonly projectTitle: string;
  readonly sessionTemplateId: number;
  readonly sessionTemplateName: string;
  readonly createdAt: Date;
  /** As shown, with identifiers, never joined to addresses. */
  readonly metadata: JsonObject | null;
}

type Filters = Pick<SessionListQuery, 'projectId' | 'sessionTemplateId' | 'search'>;

/** One statement for each set of filters, so that PostgreSQL plans each by its own index. */
function whereClause(filters: Filters, parameters: Parameters): string {
  const { projectId, sessionTemplateId, search = '' } = filters;
  const conditions: string[] = [];
  if (projectId !== undefined) conditions.push(`c.project_id = ${parameters.bind(projectId, 'bigint')}`);
  if (sessionTemplateId !== undefined) {
    conditions.push(`c.session_template_id = ${parameters.bind(sessionTemplateId, 'bigint')}`);
  }
  if (search !== '') conditions.push(searchCondition(search, parameters));
  return conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
}

/** Below three characters the index of three-character pieces would be read as a whole, for nothing. */
const shortestIndexedSearch = 3;

function searchCondition(search: string, parameters: Parameters): string {
  // Name, simulation name and id stand on lines of their own; only a simulation name can hold a line break itself.
  if (search.includes('\n')) {
    return `strpos(lower(c.simulation_name collate "default"), lower(${parameters.bind(search, 'text')})) > 0`;
  }
  return [...search].length < shortestIndexedSearch
    ? `strpos(c.search_text, lower(${parameters.bind(search, 'text')})) > 0`
    : `c.search_text like '%' || lower(${parameters.bind(escapeLike(search), 'text')}) || '%'`;
}

const orders = {
  'date asc': 'c.created_at, c.session_id',
  'date desc': 'c.created_at desc, c.session_id desc',
  'name asc': 'c.name, c.session_id',
  'name desc': 'c.name desc, c.session_id desc',
} as const;

/** The statement of one page, for measuring too. */
export function listStatement(query: SessionListQuery): {
  readonly text: string;
  readonly values: readonly unknown[];
} {
  const parameters = new Parameters();
  const where = whereClause(query, parameters);
  const order = orders[`${query.sortBy} ${query.sortOrder}`];
  const limit = parameters.bind(query.pageSize, 'bigint');
  const offset = parameters.bind((query.page - 1) * query.pageSize, 'bigint');
  const text = `
    select c.session_id as id, c.name, c.simulation_name as "simulationName", c.project_id as "projectId",
           p.title as "projectTitle", c.session_template_id as "sessionTemplateId",
           t.name as "sessionTemplateName", c.created_at as "createdAt", c.metadata
      from (select * from session_card c ${where} order by ${order} limit ${limit} offset ${offset}) c
      join project p on p.id = c.project_id
      join session_template t on t.id = c.session_template_id
     order by ${order}`;
  return { text, values: parameters.values };
}

/** One page, and how many sessions there are in all. Ties are broken by id. */
export async function listSessions(
  database: Database,
  query: SessionListQuery,
): Promise<{ rows: SessionListRow[]; totalCount: number }> {
  const { text, values } = listStatement(query);
  const [rows, totalCount] = await Promise.all([
    database.queryAnew<SessionListRow>(text, values),
    countListed(database, query),
  ]);
  return { rows, totalCount };
}

async function countListed(database: Database, filters: Filters): Promise<number> {
  if ((filters.search ?? '') === '') return countSessions(database, filters);
  const parameters = new Parameters();
  const where = whereClause(filters, parameters);
  const [row] = await database.queryAnew<{ count: number }>(
    `select count(*) as count from session_card c ${where}`,
    parameters.values,
  );
  return row?.count ?? 0;
}
