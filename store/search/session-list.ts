/** The session list: search, order and pages (contract: Session list; decisions 5). */
import type { JsonObject } from '../../domain/text.ts';
import type { Database } from '../connection/database.ts';
import { escapeLike } from '../connection/like.ts';
import { countSessions } from './session-count.ts';
import { Parameters } from './session-filter.ts';
import { countMatches, pageStatement, readPage, type Statement } from './session-page.ts';

export interface SessionListQuery {
  readonly projectId?: number | undefined;
  readonly sessionTemplateId?: number | undefined;
  /** Part of name, simulation name or id, in any case; every character is literal. */
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
function condition(filters: Filters, parameters: Parameters): string {
  const { projectId, sessionTemplateId, search = '' } = filters;
  const conditions: string[] = [];
  if (projectId !== undefined) conditions.push(`c.project_id = ${parameters.bind(projectId, 'bigint')}`);
  if (sessionTemplateId !== undefined) {
    conditions.push(`c.session_template_id = ${parameters.bind(sessionTemplateId, 'bigint')}`);
  }
  if (search !== '') conditions.push(searchCondition(search, parameters));
  return conditions.length === 0 ? 'true' : conditions.join(' and ');
}

/** Below three characters the index of three-character pieces would be read whole, without benefit. */
const shortestIndexedSearch = 3;

function searchCondition(search: string, parameters: Parameters): string {
  // Name, simulation name and id are on separate lines; only a simulation name can contain a line break.
  if (search.includes('\n')) {
    return `strpos(lower(c.simulation_name collate "default"), lower(${parameters.bind(search, 'text')})) > 0`;
  }
  return [...search].length < shortestIndexedSearch
    ? `strpos(c.search_text, lower(${parameters.bind(search, 'text')})) > 0`
    : `c.search_text like '%' || lower(${parameters.bind(escapeLike(search), 'text')}) || '%'`;
}

const orderColumns = { date: 'c.created_at', name: 'c.name' } as const;

/** The statement of one page. */
export function listStatement(query: SessionListQuery): Statement {
  const { sortBy, sortOrder: direction, page, pageSize } = query;
  const parameters = new Parameters();
  return pageStatement(
    {
      columns: `c.session_id as id, c.name, c.simulation_name, c.project_id,
        p.title as project_title, c.session_template_id, t.name as session_template_name,
        c.created_at, c.metadata`,
      joins: 'join project p on p.id = c.project_id join session_template t on t.id = c.session_template_id',
      where: condition(query, parameters),
      order: [
        { sql: orderColumns[sortBy], direction },
        { sql: 'c.session_id', direction },
      ],
      limit: pageSize,
      offset: (page - 1) * pageSize,
      countsAll: isSearch(query),
    },
    parameters,
  );
}

/** One page, and how many sessions there are in all. Ties are broken by id. */
export async function listSessions(
  database: Database,
  query: SessionListQuery,
): Promise<{ rows: SessionListRow[]; totalCount: number }> {
  const read = readPage<SessionListRow>(database, listStatement(query));
  if (!isSearch(query)) {
    const [{ rows }, totalCount] = await Promise.all([read, countSessions(database, query)]);
    return { rows, totalCount };
  }
  const { rows, total } = await read;
  if (total !== undefined || query.page === 1) return { rows, totalCount: total ?? 0 };
  const parameters = new Parameters();
  return { rows, totalCount: await countMatches(database, condition(query, parameters), parameters) };
}

const isSearch = ({ search = '' }: Filters) => search !== '';
