import type { CatalogDimension, CatalogQuery } from '../api.ts';
import { listDimensions } from '../api.ts';
import { plural } from '../format.ts';
import { useResource, useTitle } from '../hooks.ts';
import { navigate, useAddress } from '../router.ts';
import { Ago } from '../ui/ago.tsx';
import { DateRange } from '../ui/date-range.tsx';
import { Icon } from '../ui/icon.tsx';
import { Empty, Failure, Placeholder } from '../ui/notice.tsx';
import { Paging } from '../ui/paging.tsx';
import { Table } from '../ui/table.tsx';

/** The dashboards of all sessions that the person may see; dates, order and page are in the address. */
export function DashboardsPage() {
  useTitle('Dashboards');
  const { query } = useAddress();
  const wanted = readQuery(query);
  const list = useResource(JSON.stringify(wanted), (signal) => listDimensions(wanted, signal), {
    keepWhileLoading: true,
  });
  const page = list.data;
  const ranged = wanted.from !== '' || wanted.to !== '';
  return (
    <div class="page">
      <div class="page-head">
        <h1>Dashboards</h1>
        <DateRange
          from={wanted.from}
          to={wanted.to}
          onChange={(from, to) => go({ ...wanted, from, to, page: 1 })}
        />
      </div>
      {list.error !== null && (
        <Failure what="The dashboards could not be listed." error={list.error} retry={list.reload} />
      )}
      {page === null && list.error === null && <Placeholder rows={6} label="Loading dashboards" />}
      {page !== null && list.error === null && page.dimensions.length === 0 && (
        <Empty title={ranged ? 'No dashboard of these days' : 'There are no dashboards yet'}>
          <p>
            {ranged
              ? 'The dates are compared with the scenarios of a session.'
              : 'A dashboard appears when a node of a session has made one of a recording.'}
          </p>
        </Empty>
      )}
      {page !== null && page.dimensions.length > 0 && (
        <>
          <DashboardTable rows={page.dimensions} query={wanted} busy={list.loading} />
          <Paging
            page={page.pageNumber}
            totalPages={page.totalPages}
            summary={plural(page.totalCount, 'dashboard', 'dashboards')}
            onPage={(number) => go({ ...wanted, page: number })}
          />
        </>
      )}
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
        When
        <Icon name={ascending ? 'up' : 'down'} />
      </button>
    </th>
  );
  return (
    <Table caption="Dashboards" columns={['Dashboard', 'Project', 'Person', when]} busy={props.busy}>
      {props.rows.map((row) => (
        <tr key={row.id}>
          <td>
            <a class="row-link" href={row.url}>
              {row.title}
            </a>
            <div class="faint">
              {[row.sessionName, row.scenarioName].filter((text) => text !== null && text !== '').join(' · ')}
            </div>
          </td>
          <td data-label="Project">{row.projectTitle}</td>
          <td data-label="Person" class="wrap-anywhere">
            {row.name}
          </td>
          <td data-label="When" class="nowrap">
            <When row={row} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** The start of the newest scenario, by which the list is ordered; without one the creation of the dashboard. */
function When(props: { row: CatalogDimension }) {
  const at = props.row.from ?? props.row.createdAt;
  return <Ago at={at} />;
}

function readQuery(query: URLSearchParams): CatalogQuery {
  const page = Number(query.get('page') ?? 1);
  return {
    from: dateOrNone(query.get('from')),
    to: dateOrNone(query.get('to')),
    page: Number.isInteger(page) && page > 0 && page < 2 ** 31 ? page : 1,
    order: query.get('order') === 'ascending' ? 'ascending' : 'descending',
  };
}

function dateOrNone(text: string | null): string {
  return text !== null && /^\d{4}-\d\d-\d\d$/.test(text) ? text : '';
}

function go(query: CatalogQuery): void {
  const parameters = new URLSearchParams();
  if (query.from !== '') parameters.set('from', query.from);
  if (query.to !== '') parameters.set('to', query.to);
  if (query.order !== 'descending') parameters.set('order', query.order);
  if (query.page !== 1) parameters.set('page', String(query.page));
  const text = parameters.toString();
  navigate(text === '' ? '/dashboards' : `/dashboards?${text}`);
}
