import type { ComponentChildren } from 'preact';
import { countSessions, listSessions, type SessionCounts } from '../api.ts';
import { formatCount, plural } from '../format.ts';
import { useEvery, useResource } from '../hooks.ts';
import type { QueryWorld } from '../query/model.ts';
import { navigate, useAddress } from '../router.ts';
import { lazy } from '../ui/lazy.tsx';
import { Empty, Failure, Placeholder } from '../ui/notice.tsx';
import { Paging } from '../ui/paging.tsx';
import { refreshMs } from '../ui/refreshed-list.ts';
import {
  countQueryOf,
  isFiltered,
  type ListView,
  listAddress,
  listQueryOf,
  readView,
  tabs,
} from './address.ts';
import { ChosenSessions } from './chosen.tsx';
import { ListFilters } from './filters.tsx';
import { summaryOf } from './list-model.ts';
import { SessionRows } from './rows.tsx';
import { useChosen, useSessionRows } from './use-rows.ts';

/** All sessions; tab, search, filters, order and page are in the address. */
export function ListedSessions(props: { world: QueryWorld }) {
  const { query } = useAddress();
  const view = readView(query);
  const key = listAddress(view);
  const { list, shown, showNewer } = useSessionRows(key, (signal) => listSessions(listQueryOf(view), signal));
  const counts = useResource(
    JSON.stringify(countQueryOf(view)),
    (signal) => countSessions(countQueryOf(view), signal),
    { keepWhileLoading: true },
  );
  useEvery(refreshMs, true, counts.reload);
  const rows = shown?.rows ?? [];
  const { chosen, setChosen, sessions, clear } = useChosen(key, rows);
  return (
    <>
      <TabLinks view={view} counts={counts.data}>
        {shown !== null && shown.newer > 0 && (
          <button type="button" class="button button-small sessions-newer" onClick={showNewer}>
            Show {plural(shown.newer, 'newer session', 'newer sessions')}
          </button>
        )}
        <ChosenSessions
          sessions={sessions}
          changed={() => {
            list.reload();
            counts.reload();
          }}
          clear={clear}
        />
      </TabLinks>
      <ListFilters view={view} world={props.world} go={go} />
      {list.error !== null && (
        <Failure what="The sessions could not be listed." error={list.error} retry={list.reload} />
      )}
      {shown === null && list.error === null && <Placeholder rows={6} label="Loading sessions" />}
      {shown !== null && rows.length === 0 && shown.newer === 0 && <NoSessions view={view} />}
      {rows.length > 0 && (
        <>
          <Dropped projectId={view.projectId} />
          <SessionRows
            rows={rows}
            sorting={view}
            busy={list.loading && list.data?.page !== view.page}
            chosen={chosen}
            onChosen={setChosen}
            onSort={({ sortBy, sortOrder }) =>
              go({ ...view, sortBy: sortBy ?? view.sortBy, sortOrder, page: 1 })
            }
          />
          <Paging
            page={view.page}
            totalPages={Math.max(1, list.data?.totalPages ?? 1)}
            summary={summaryOf(list.data, rows.length)}
            onPage={(page) => go({ ...view, page })}
          />
        </>
      )}
    </>
  );
}

/** Each tab is a link, with how many sessions it has under the present filters. */
function TabLinks(props: { view: ListView; counts: SessionCounts | null; children: ComponentChildren }) {
  const { view, counts } = props;
  return (
    <div class="tabs session-tabs">
      <nav aria-label="Which sessions">
        {tabs.map(({ id, label }) => {
          const count = counts?.[id];
          return (
            <a
              key={id}
              class="tab"
              href={listAddress({ ...view, tab: id, page: 1 })}
              {...(id === view.tab ? { 'aria-current': 'page' } : {})}
            >
              {label}{' '}
              {count !== undefined && (
                <span class={id === 'failed' && count.count > 0 ? 'tab-count tab-count-failed' : 'tab-count'}>
                  {formatCount(count.count)}
                  {!count.isExact && '+'}
                </span>
              )}
            </a>
          );
        })}
      </nav>
      {props.children}
    </div>
  );
}

const nothingIn = {
  all: 'No matching sessions',
  running: 'No session is running',
  failed: 'No session has failed',
  mine: 'You have no sessions',
} as const;

function NoSessions({ view }: { view: ListView }) {
  if (view.tab === 'all' && !isFiltered(view)) {
    return <BeginLoader />;
  }
  const isSearch = view.search !== '';
  const title = isSearch ? `No session matches “${view.search}”` : nothingIn[view.tab];
  return (
    <Empty title={title}>
      {isSearch && <p>The search covers session names, simulation names and ids.</p>}
      {isFiltered(view) && view.tab !== 'all' && <p>The filters above may leave some out.</p>}
      <p>
        <a href="/sessions">All sessions</a>
      </p>
    </Empty>
  );
}

const Dropped = lazy(() => import('./begin.tsx').then((module) => module.DropToBegin), null);

/** The code for a platform without sessions is needed once. */
const BeginLoader = lazy(() => import('./begin.tsx').then((module) => module.Begin), {
  rows: 2,
  label: 'Loading',
});

function go(view: ListView, replace = false): void {
  navigate(listAddress(view), { replace });
}
