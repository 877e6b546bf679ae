import { listProjects } from '../api.ts';
import { ownTitle } from '../dashboard/model.ts';
import { SparkLine } from '../dashboard/thumbnails/spark-line.tsx';
import type { CatalogDimension, CatalogQuery } from '../dashboard-api.ts';
import { listDimensions } from '../dashboard-api.ts';
import { momentsOf } from '../days.ts';
import { formatExactly, plural } from '../format.ts';
import { useResource, useTitle } from '../hooks.ts';
import { navigate, useAddress } from '../router.ts';
import { readDay } from '../sessions/address.ts';
import { Ago } from '../ui/ago.tsx';
import { DateRange } from '../ui/date-range.tsx';
import { Select } from '../ui/form.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Empty } from '../ui/notice.tsx';
import { Paging, useLastPage } from '../ui/paging.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { useSearchText } from '../ui/search-text.ts';
import { Table } from '../ui/table.tsx';

/** The dashboards of all sessions that the person may see; filters, order and page are in the address. */
export function DashboardsPage() {
  useTitle('Dashboards');
  const { query } = useAddress();
  const wanted = readQuery(query);
  const list = useLastPage(
    useResource(
      JSON.stringify(wanted),
      async (signal) => ({
        page: wanted.page,
        ...(await listDimensions({ ...wanted, ...momentsOf(wanted) }, signal)),
      }),
      { keepWhileLoading: true },
    ),
  );
  return (
    <div class="page">
      <div class="page-head">
        <h1>Dashboards</h1>
      </div>
      <Filters wanted={wanted} change={(part, replace) => go({ ...wanted, ...part, page: 1 }, replace)} />
      <Loaded of={list} failure="The dashboards could not be listed." rows={6} label="Loading dashboards">
        {(page) =>
          page.dimensions.length > 0 ? (
            <>
              <DashboardTable rows={page.dimensions} query={wanted} busy={list.loading} />
              <Paging
                page={page.pageNumber}
                totalPages={page.totalPages}
                summary={plural(page.totalCount, 'dashboard', 'dashboards')}
                onPage={(number) => go({ ...wanted, page: number })}
              />
            </>
          ) : (
            list.error === null && <NoDashboards wanted={wanted} />
          )
        }
      </Loaded>
    </div>
  );
}

/** An empty list, and why it is empty: the search, the dates, or nothing yet. */
function NoDashboards({ wanted }: { wanted: CatalogQuery }) {
  if (wanted.search !== '' || wanted.projectId !== null)
    return (
      <Empty title="No matching dashboards">
        <p>The names of sessions and dashboards are searched.</p>
      </Empty>
    );
  if (wanted.from !== '' || wanted.to !== '')
    return (
      <Empty title="No dashboards in this period">
        <p>The dates are compared with the scenarios of a session.</p>
      </Empty>
    );
  return (
    <Empty title="No dashboards yet">
      <p>A dashboard appears when a node of a session has created one from a recording.</p>
      <p>
        <a href="/sessions">Upload a recording to a session</a>
      </p>
    </Empty>
  );
}

function Filters(props: {
  wanted: CatalogQuery;
  change: (part: Partial<CatalogQuery>, replace?: boolean) => void;
}) {
  const { wanted, change } = props;
  const projects = useResource('projects', listProjects);
  const [text, setText] = useSearchText(wanted.search, (search) => change({ search }, true), 300);
  return (
    <div class="filters">
      <SearchField label="Search dashboards" value={text} onValue={setText} />
      <Select
        label="Project"
        class="filter"
        value={wanted.projectId === null ? '' : String(wanted.projectId)}
        options={[
          { value: '', label: 'All projects' },
          ...(projects.data ?? []).map(({ id, title }) => ({ value: String(id), label: title })),
        ]}
        onValue={(id) => change({ projectId: id === '' ? null : Number(id) })}
      />
      <DateRange from={wanted.from} to={wanted.to} onChange={(from, to) => change({ from, to })} />
    </div>
  );
}

function DashboardTable(props: { rows: readonly CatalogDimension[]; query: CatalogQuery; busy: boolean }) {
  const ascending = props.query.order === 'ascending';
  const when = (
    <th key="when" scope="col" aria-sort={props.query.order}>
      <button
        type="button"
        class="sort"
        onClick={() => go({ ...props.query, order: ascending ? 'descending' : 'ascending', page: 1 })}
      >
        Updated
        <Icon name={ascending ? 'up' : 'down'} />
      </button>
    </th>
  );
  return (
    <Table
      caption="Dashboards"
      columns={['Session', 'First channel', 'Project', 'Owner', when]}
      busy={props.busy}
    >
      {props.rows.map((row) => (
        <tr key={row.id}>
          <td>
            {/* It covers the row: its title says what the other cells cut. */}
            <a class="row-link" href={row.url} title={fullTitle(row)}>
              {row.sessionName}
            </a>
            <div class="faint">
              {[ownTitle(row), row.scenarioName].filter((text) => text !== null && text !== '').join(' · ')}
            </div>
          </td>
          <td>
            <SparkLine dimensionId={row.id} />
          </td>
          <td data-label="Project" class="cut">
            {row.projectTitle}
          </td>
          <td data-label="Owner" class="wrap-words">
            {ownerOf(row)}
          </td>
          <td data-label="Updated" class="nowrap">
            <Ago at={updatedAt(row)} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** Of a person whom the reader may not see, the platform tells the id alone. */
const ownerOf = ({ name, users }: CatalogDimension) => (name === users[0]?.id ? '' : name);

const fullTitle = (row: CatalogDimension) =>
  `${row.sessionName}\n${row.projectTitle}\nUpdated ${formatExactly(updatedAt(row))}`;

/** The start of the newest scenario, by which the list is ordered; without one the creation of the dashboard. */
const updatedAt = ({ from, createdAt }: CatalogDimension) => from ?? createdAt;

function readQuery(query: URLSearchParams): CatalogQuery {
  const page = Number(query.get('page') ?? 1);
  const projectId = Number(query.get('projectId') ?? Number.NaN);
  return {
    search: query.get('search') ?? '',
    projectId: Number.isSafeInteger(projectId) && projectId > 0 ? projectId : null,
    from: readDay(query.get('from')),
    to: readDay(query.get('to')),
    page: Number.isInteger(page) && page > 0 && page < 2 ** 31 ? page : 1,
    order: query.get('order') === 'ascending' ? 'ascending' : 'descending',
  };
}

function go(query: CatalogQuery, replace = false): void {
  const parameters = new URLSearchParams();
  if (query.search !== '') parameters.set('search', query.search);
  if (query.projectId !== null) parameters.set('projectId', String(query.projectId));
  if (query.from !== '') parameters.set('from', query.from);
  if (query.to !== '') parameters.set('to', query.to);
  if (query.order !== 'descending') parameters.set('order', query.order);
  if (query.page !== 1) parameters.set('page', String(query.page));
  const text = parameters.toString();
  navigate(text === '' ? '/dashboards' : `/dashboards?${text}`, { replace });
}
