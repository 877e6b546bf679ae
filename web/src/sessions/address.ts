/** The view of the list of sessions in its address. Pure: tested without a browser. */
import type { SessionListQuery } from '../api.ts';

const pageSize = 25;

export function readListQuery(query: URLSearchParams): SessionListQuery {
  return {
    search: query.get('search') ?? '',
    projectId: wholeNumber(query.get('project')),
    sessionTemplateId: wholeNumber(query.get('template')),
    page: readPage(query),
    pageSize,
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

/** The address of a list; the shortest for the default view. */
export function listAddress(query: SessionListQuery): string {
  const parameters = new URLSearchParams();
  if (query.search !== '') parameters.set('search', query.search);
  if (query.projectId !== null) parameters.set('project', String(query.projectId));
  if (query.sessionTemplateId !== null) parameters.set('template', String(query.sessionTemplateId));
  if (query.sortBy !== 'date') parameters.set('sortBy', query.sortBy);
  if (query.sortOrder !== 'desc') parameters.set('sortOrder', query.sortOrder);
  if (query.page !== 1) parameters.set('page', String(query.page));
  const text = parameters.toString();
  return text === '' ? '/sessions' : `/sessions?${text}`;
}
