import { useEffect, useState } from 'preact/hooks';
import type { SessionListQuery, SessionListRow } from '../api.ts';
import { listSessions } from '../api.ts';
import { plural } from '../format.ts';
import { useResource, useSettled } from '../hooks.ts';
import type { QueryWorld } from '../query/model.ts';
import { navigate, useAddress } from '../router.ts';
import { Icon } from '../ui/icon.tsx';
import { Empty, Failure, Placeholder } from '../ui/notice.tsx';
import { Paging } from '../ui/paging.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { listAddress, readListQuery } from './address.ts';
import type { ShownSession } from './table.tsx';
import { SessionTable } from './table.tsx';

/** All sessions, newest first; search, filters, order and page are in the address. */
export function ListedSessions(props: { world: QueryWorld }) {
  const { query } = useAddress();
  const wanted = readListQuery(query);
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
  const headings = {
    session: <SortableHeading title="Session" sortBy="name" query={wanted} />,
    created: <SortableHeading title="Created" sortBy="date" query={wanted} />,
  };
  return (
    <>
      <div class="filters">
        <SearchField
          label="Search by session name, simulation or id"
          placeholder="Search by name, simulation or id"
          value={search}
          onValue={setSearch}
        />
        <IdFilter
          label="Project"
          all="All projects"
          value={wanted.projectId}
          options={props.world.projects.map(({ id, title }) => ({ id, name: title }))}
          onValue={(projectId) => go({ ...wanted, projectId, page: 1 })}
        />
        <IdFilter
          label="Template"
          all="All templates"
          value={wanted.sessionTemplateId}
          options={props.world.templates}
          onValue={(sessionTemplateId) => go({ ...wanted, sessionTemplateId, page: 1 })}
        />
      </div>
      {list.error !== null && (
        <Failure what="The sessions could not be listed." error={list.error} retry={list.reload} />
      )}
      {page === null && list.error === null && <Placeholder rows={6} label="Loading sessions" />}
      {page !== null && page.sessions.length === 0 && <NoSessions query={wanted} />}
      {page !== null && page.sessions.length > 0 && (
        <>
          <SessionTable rows={page.sessions.map(shown)} busy={list.loading} headings={headings} />
          <Paging
            page={page.page}
            totalPages={page.totalPages}
            summary={plural(page.totalCount, 'session', 'sessions')}
            onPage={(number) => go({ ...wanted, page: number })}
          />
        </>
      )}
    </>
  );
}

function shown(row: SessionListRow): ShownSession {
  return { ...row, project: row.projectTitle, template: row.sessionTemplateName };
}

function IdFilter(props: {
  label: string;
  all: string;
  value: number | null;
  options: readonly { id: number; name: string }[];
  onValue: (id: number | null) => void;
}) {
  const isKnown = props.value === null || props.options.some(({ id }) => id === props.value);
  return (
    <select
      class="select filter"
      aria-label={props.label}
      value={props.value ?? ''}
      onChange={(event) => {
        const id = event.currentTarget.value;
        props.onValue(id === '' ? null : Number(id));
      }}
    >
      <option value="">{props.all}</option>
      {!isKnown && (
        <option value={props.value ?? ''}>
          {props.label} {props.value}
        </option>
      )}
      {props.options.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}

function NoSessions({ query }: { query: SessionListQuery }) {
  if (query.search === '' && query.projectId === null && query.sessionTemplateId === null) {
    return (
      <Empty title="There are no sessions yet">
        <p>
          Make one with “New session”, through the <a href="/docs">interface</a>, or by{' '}
          <code>npm run demo</code> for a first look.
        </p>
      </Empty>
    );
  }
  const isSearch = query.search !== '';
  return (
    <Empty title={isSearch ? `No session matches “${query.search}”` : 'No session of this choice'}>
      {isSearch && <p>The search looks at session names, simulation names and ids.</p>}
      <p>
        <a href="/sessions">All sessions</a>
      </p>
    </Empty>
  );
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

function go(query: SessionListQuery, replace = false): void {
  navigate(listAddress(query), { replace });
}
