/** The view of the list of sessions in its address, and what it asks for. Pure: tested without a browser. */
import type { Query } from '../../../client/api-client.ts';
import { startOfDay } from '../days.ts';

type ListQuery = Query<'GET /api/v2/session'>;
type CountQuery = Query<'GET /api/v2/session/counts'>;

export const tabs = [
  { id: 'all', label: 'All', asks: {} },
  { id: 'running', label: 'Running', asks: { state: 'running' } },
  { id: 'failed', label: 'Failed', asks: { state: 'failed' } },
  { id: 'mine', label: 'Mine', asks: { owner: 'me' } },
] as const;
type TabId = (typeof tabs)[number]['id'];

export type SortKey = 'date' | 'name';

export interface Sorting {
  /** Null: by something that is no column of the list. */
  readonly sortBy: SortKey | null;
  readonly sortOrder: 'asc' | 'desc';
}

export interface ListView extends Sorting {
  readonly tab: TabId;
  readonly search: string;
  /** Null: any. */
  readonly projectId: number | null;
  readonly sessionTemplateId: number | null;
  /** Days as `2026-03-01`, both included; empty for no bound. */
  readonly from: string;
  readonly to: string;
  readonly page: number;
  readonly sortBy: SortKey;
}

export const pageSize = 25;

export function readView(query: URLSearchParams): ListView {
  return {
    tab: tabs.find(({ id }) => id === query.get('tab'))?.id ?? 'all',
    search: query.get('search') ?? '',
    projectId: wholeNumber(query.get('project')),
    sessionTemplateId: wholeNumber(query.get('template')),
    from: readDay(query.get('from')),
    to: readDay(query.get('to')),
    page: readPage(query),
    sortBy: query.get('sortBy') === 'name' ? 'name' : 'date',
    sortOrder: query.get('sortOrder') === 'asc' ? 'asc' : 'desc',
  };
}

export function readPage(query: URLSearchParams): number {
  return wholeNumber(query.get('page')) ?? 1;
}

function wholeNumber(text: string | null): number | null {
  const number = Number(text ?? Number.NaN);
  return Number.isInteger(number) && number > 0 && number < 2 ** 31 ? number : null;
}

/** A day as `2026-03-14`; empty for anything else. */
export const readDay = (text: string | null) => (text !== null && /^\d{4}-\d\d-\d\d$/.test(text) ? text : '');

/** The address of a list; the shortest for the default view. */
export function listAddress(view: ListView): string {
  const parameters = new URLSearchParams();
  const parts = {
    tab: view.tab === 'all' ? '' : view.tab,
    search: view.search,
    project: view.projectId,
    template: view.sessionTemplateId,
    from: view.from,
    to: view.to,
    sortBy: view.sortBy === 'date' ? '' : view.sortBy,
    sortOrder: view.sortOrder === 'desc' ? '' : view.sortOrder,
    page: view.page === 1 ? '' : view.page,
  };
  for (const [name, value] of Object.entries(parts)) if (value) parameters.set(name, String(value));
  const text = parameters.toString();
  return text === '' ? '/sessions' : `/sessions?${text}`;
}

export function countQueryOf(view: ListView): CountQuery {
  return {
    search: view.search || undefined,
    projectId: view.projectId ?? undefined,
    sessionTemplateId: view.sessionTemplateId ?? undefined,
    from: startOfDay(view.from),
    to: startOfDay(view.to, 1),
  };
}

export function listQueryOf(view: ListView): ListQuery {
  return {
    ...countQueryOf(view),
    ...tabs.find(({ id }) => id === view.tab)?.asks,
    page: view.page,
    pageSize,
    sortBy: view.sortBy,
    sortOrder: view.sortOrder,
  };
}

/** Whether filters beside the tab leave sessions out. */
export function isFiltered(view: ListView): boolean {
  const { search, projectId, sessionTemplateId, from, to } = view;
  return search !== '' || projectId !== null || sessionTemplateId !== null || from !== '' || to !== '';
}

/** The filters as a filter of the query builder, which goes on from there. */
export function filterOf(view: ListView): unknown {
  const { projectId, sessionTemplateId, from, to } = countQueryOf(view);
  const leaves = [
    projectId !== undefined && { path: 'projectId', op: 'eq', value: projectId },
    sessionTemplateId !== undefined && { path: 'sessionTemplateId', op: 'eq', value: sessionTemplateId },
    from !== undefined && { path: 'createdAt', op: 'gte', value: from },
    to !== undefined && { path: 'createdAt', op: 'lt', value: to },
    (view.tab === 'running' || view.tab === 'failed') && { path: 'state', op: 'eq', value: view.tab },
    view.tab === 'mine' && { path: 'owner', op: 'eq', value: 'me' },
  ].filter((leaf) => leaf !== false);
  return leaves.length === 0 ? null : { and: leaves };
}
