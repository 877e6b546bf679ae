import { useEffect, useState } from 'preact/hooks';
import type { SessionListQuery, SessionRow } from '../api.ts';
import { listSessions } from '../api.ts';
import { formatAgo, formatDateTime, plural } from '../format.ts';
import { useResource, useSettled, useTitle } from '../hooks.ts';
import { navigate, useAddress } from '../router.ts';
import { Icon } from '../ui/icon.tsx';
import { Empty, Failure, Placeholder } from '../ui/notice.tsx';
import { Paging } from '../ui/paging.tsx';

const pageSize = 25;

/** All sessions, newest first; search, order and page stand in the address. */
export function SessionsPage() {
  useTitle('Sessions');
  const { query } = useAddress();
  const wanted = readQuery(query);
  const [search, setSearch] = useState(wanted.search);
  const settled = useSettled(search, 250);
  useEffect(() => setSearch(wanted.search), [wanted.search]);
  useEffect(() => {
    if (settled !== wanted.search && settled === search) go({ ...wanted, search: settled, page: 1 }, true);
  }, [settled]);

  const list = useResource(JSON.stringify(wanted), (signal) => listSessions(wanted, signal), {
    keepWhileLoading: true,
  });
  const page = list.data;

  return (
    <div class="page">
      <div class="page-head">
        <h1>Sessions</h1>
        <search class="search">
          <Icon name="search" />
          <input
            type="search"
            aria-label="Search by session name, simulation or id"
            placeholder="Search by name, simulation or id"
            value={search}
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
        </search>
      </div>
      {list.error !== null && (
        <Failure what="The sessions could not be listed." error={list.error} retry={list.reload} />
      )}
      {page === null && list.error === null && <Placeholder rows={6} label="Loading sessions" />}
      {page !== null && page.sessions.length === 0 && <NoSessions search={wanted.search} />}
      {page !== null && page.sessions.length > 0 && (
        <>
          <SessionTable rows={page.sessions} query={wanted} busy={list.loading} />
          <Paging
            page={page.page}
            totalPages={page.totalPages}
            summary={plural(page.totalCount, 'session', 'sessions')}
            onPage={(number) => go({ ...wanted, page: number })}
          />
        </>
      )}
    </div>
  );
}

function NoSessions(props: { search: string }) {
  if (props.search !== '') {
    return (
      <Empty title={`No session matches “${props.search}”`}>
        <p>The search looks at session names, simulation names and ids.</p>
      </Empty>
    );
  }
  return (
    <Empty title="There are no sessions yet">
      <p>
        A session is made through the <a href="/docs">interface</a>, or by <code>npm run demo</code> for a
        first look.
      </p>
    </Empty>
  );
}

function SessionTable(props: { rows: SessionRow[]; query: SessionListQuery; busy: boolean }) {
  const now = Date.now();
  return (
    <div class="table-frame" aria-busy={props.busy}>
      <table class="table">
        <caption class="visually-hidden">Sessions</caption>
        <thead>
          <tr>
            <SortableHeading title="Session" sortBy="name" query={props.query} />
            <th scope="col">Project</th>
            <th scope="col">Template</th>
            <SortableHeading title="Created" sortBy="date" query={props.query} />
          </tr>
        </thead>
        <tbody>
          {props.rows.map((row) => (
            <tr key={row.id}>
              <td>
                <a class="row-link" href={`/sessions/${row.id}`}>
                  {row.name}
                </a>
                <SharedStatus metadata={row.metadata} />
                {row.simulationName !== null && row.simulationName !== '' && (
                  <div class="faint">{row.simulationName}</div>
                )}
              </td>
              <td data-label="Project">{row.projectTitle}</td>
              <td data-label="Template" class="wrap-anywhere">
                {row.sessionTemplateName}
              </td>
              <td data-label="Created" class="nowrap">
                <time dateTime={row.createdAt} title={formatDateTime(row.createdAt)}>
                  {formatAgo(row.createdAt, now)}
                </time>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Shared sessions carry `open` or `closed` in their metadata. */
function SharedStatus(props: { metadata: Record<string, unknown> | null }) {
  const status = props.metadata?.status;
  if (status !== 'open' && status !== 'closed') return null;
  return <span class="tag">{status === 'open' ? 'shared, open' : 'shared, closed'}</span>;
}

function SortableHeading(props: { title: string; sortBy: 'date' | 'name'; query: SessionListQuery }) {
  const active = props.query.sortBy === props.sortBy;
  const ascending = props.query.sortOrder === 'asc';
  const next = active ? (ascending ? 'desc' : 'asc') : props.sortBy === 'name' ? 'asc' : 'desc';
  return (
    <th scope="col" {...(active ? { 'aria-sort': ascending ? 'ascending' : 'descending' } : {})}>
      <button
        type="button"
        class="sort"
        onClick={() => go({ ...props.query, sortBy: props.sortBy, sortOrder: next, page: 1 })}
      >
        {props.title}
        {active && <Icon name={ascending ? 'up' : 'down'} />}
      </button>
    </th>
  );
}

function readQuery(query: URLSearchParams): SessionListQuery {
  const page = Number(query.get('page') ?? 1);
  return {
    search: query.get('search') ?? '',
    page: Number.isInteger(page) && page > 0 && page < 2 ** 31 ? page : 1,
    pageSize,
    sortBy: query.get('sortBy') === 'name' ? 'name' : 'date',
    sortOrder: query.get('sortOrder') === 'asc' ? 'asc' : 'desc',
  };
}

function go(query: SessionListQuery, replace = false): void {
  const parameters = new URLSearchParams();
  if (query.search !== '') parameters.set('search', query.search);
  if (query.sortBy !== 'date') parameters.set('sortBy', query.sortBy);
  if (query.sortOrder !== 'desc') parameters.set('sortOrder', query.sortOrder);
  if (query.page !== 1) parameters.set('page', String(query.page));
  const text = parameters.toString();
  navigate(text === '' ? '/sessions' : `/sessions?${text}`, { replace });
}
