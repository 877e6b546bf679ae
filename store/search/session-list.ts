/** The session list: search, order and pages (contract: Session list; decisions 5). */
import { limits } from '../../domain/limits.ts';
import type { SessionState } from '../../domain/sessions/session-state.ts';
import type { JsonObject } from '../../domain/text.ts';
import type { Database } from '../connection/database.ts';
import { escapeLike } from '../connection/like.ts';
import type { Parameters } from '../connection/parameters.ts';
import { countSessions } from './session-count.ts';
import { type OverviewRow, overviewColumns, overviewOf, type SessionOverview } from './session-overview.ts';
import {
  type Count,
  countUpTo,
  type PageParts,
  pageStatement,
  pastPage,
  readPage,
  type Statement,
  searchPage,
} from './session-page.ts';
import { isInState } from './session-state.ts';

export interface SessionListFilters {
  readonly projectId?: number | undefined;
  readonly sessionTemplateId?: number | undefined;
  /** Part of name, simulation name or id, in any case; every character is literal. */
  readonly search?: string | undefined;
  /** Any of these; empty: all. */
  readonly states?: readonly SessionState[] | undefined;
  /** GUID of the creator. */
  readonly ownerId?: string | undefined;
  /** Created at this time or later. */
  readonly from?: Date | undefined;
  /** Created before. */
  readonly to?: Date | undefined;
  /** Only these sessions. */
  readonly ids?: readonly string[] | undefined;
}

export interface SessionListQuery extends SessionListFilters {
  readonly sortBy: 'date' | 'name';
  readonly sortOrder: 'asc' | 'desc';
  /** From 1. */
  readonly page: number;
  readonly pageSize: number;
}

export interface SessionListRow extends SessionOverview {
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

/** One statement for each set of filters, so that PostgreSQL plans each by its own index. */
function condition(filters: SessionListFilters, parameters: Parameters): string {
  const { projectId, sessionTemplateId, search = '', states = [], ownerId, from, to, ids } = filters;
  const conditions: string[] = [];
  if (projectId !== undefined) conditions.push(`c.project_id = ${parameters.bind(projectId, 'bigint')}`);
  if (sessionTemplateId !== undefined) {
    conditions.push(`c.session_template_id = ${parameters.bind(sessionTemplateId, 'bigint')}`);
  }
  if (search !== '') conditions.push(searchCondition(search, parameters));
  if (states.length > 0) {
    conditions.push(`(${states.map((state) => isInState(state, 'c.session_id')).join(' or ')})`);
  }
  if (ownerId !== undefined) conditions.push(`c.user_id = ${parameters.bind(ownerId, 'uuid')}`);
  if (from !== undefined) conditions.push(`c.created_at >= ${parameters.bind(from, 'timestamptz')}`);
  if (to !== undefined) conditions.push(`c.created_at < ${parameters.bind(to, 'timestamptz')}`);
  if (ids !== undefined) conditions.push(`c.session_id = any(${parameters.bind(ids, 'uuid[]')})`);
  return conditions.length === 0 ? 'true' : conditions.join(' and ');
}

/** Below three characters the index of three-character pieces would be read whole, without benefit. */
const minIndexedSearch = 3;

/** Also in the normal forms: names of files, which sessions get, have their accents apart on macOS. */
function searchCondition(search: string, parameters: Parameters): string {
  const forms = new Set([search, search.normalize('NFC'), search.normalize('NFD')]);
  return `(${[...forms].map((form) => formCondition(form, parameters)).join(' or ')})`;
}

function formCondition(search: string, parameters: Parameters): string {
  // Name, simulation name and id are on separate lines; only a simulation name can contain a line break.
  if (search.includes('\n')) {
    return `strpos(lower(c.simulation_name collate "default"), lower(${parameters.bind(search, 'text')})) > 0`;
  }
  return [...search].length < minIndexedSearch
    ? `strpos(c.search_text, lower(${parameters.bind(search, 'text')})) > 0`
    : `c.search_text like '%' || lower(${parameters.bind(escapeLike(search), 'text')}) || '%'`;
}

const orderColumns = { date: 'c.created_at', name: 'c.name' } as const;

/** The select list and joins of a row, over `session_search c`. */
export const listColumns = `c.session_id as id, c.name, c.simulation_name, c.project_id,
        p.title as project_title, c.session_template_id, t.name as session_template_name,
        c.created_at, c.metadata, ${overviewColumns}`;
export const listJoins = `join project p on p.id = c.project_id
        join session_template t on t.id = c.session_template_id join session s on s.id = c.session_id`;

/** The statement of one page, without the number of all. */
export const listStatement = (query: SessionListQuery): Statement => pageStatement(partsOf(query));

function partsOf(query: SessionListQuery): PageParts {
  const { sortBy, sortOrder: direction, page, pageSize } = query;
  return {
    columns: listColumns,
    joins: listJoins,
    where: (parameters) => condition(query, parameters),
    order: () => [
      { sql: orderColumns[sortBy], direction },
      { sql: 'c.session_id', direction },
    ],
    isIndexed: true,
    limit: pageSize,
    offset: (page - 1) * pageSize,
  };
}

/** As the statement of a page returns it. */
export type ListedRow = Omit<SessionListRow, 'nodeCounts'> & OverviewRow;

/**
 * One page, and how many sessions there are in all. Ties are broken by id. Without a search or a filter by state, owner,
 * time or ids the count is exact; with one it ends at a bound.
 */
export async function listSessions(
  database: Database,
  query: SessionListQuery,
): Promise<{ rows: SessionListRow[]; total: Count }> {
  const { rows, total } = isSearchAlone(query)
    ? await searchPage<ListedRow>(database, partsOf(query))
    : await narrowedPage(database, query);
  return { rows: rows.map((row) => ({ ...row, ...overviewOf(row) })), total };
}

/** Each filter but a search has an index of its own, which the planner knows to choose. */
async function narrowedPage(database: Database, query: SessionListQuery) {
  const [{ rows }, total] = await Promise.all([
    readPage<ListedRow>(database, listStatement(query)),
    countListed(database, query),
  ]);
  const { page, pageSize: limit } = query;
  return { rows, total: pastPage(total, { offset: (page - 1) * limit, limit, found: rows.length }) };
}

/** How many sessions the filters match. */
export async function countListed(database: Database, filters: SessionListFilters): Promise<Count> {
  if (!isSearch(filters) && !isNarrowed(filters)) {
    return { count: await countSessions(database, filters), isExact: true };
  }
  return countUpTo(database, (parameters) => condition(filters, parameters), limits.sessionsCounted);
}

const isSearch = ({ search = '' }: SessionListFilters) => search !== '';
const isNarrowed = ({ states = [], ownerId, from, to, ids }: SessionListFilters) =>
  states.length > 0 || ids !== undefined || ownerId !== undefined || from !== undefined || to !== undefined;
const isSearchAlone = (filters: SessionListFilters) => isSearch(filters) && !isNarrowed(filters);
