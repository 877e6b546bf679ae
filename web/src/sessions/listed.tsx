import type { ComponentChildren } from 'preact';
import { countSessions, listSessions, type SessionCounts } from '../api.ts';
import { formatCount } from '../format.ts';
import { type Resource, useEvery, useResource } from '../hooks.ts';
import type { QueryWorld } from '../query/model.ts';
import { navigate, useAddress } from '../router.ts';
import { lazy } from '../ui/lazy.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { Empty } from '../ui/notice.tsx';
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
import { NewerSessions, SessionPaging } from './row-parts.tsx';
import { SessionRows } from './rows.tsx';
import { useChosen, useSessionRows } from './use-rows.ts';

/** All sessions; tab, search, filters, order and page are in the address. */
export function ListedSessions(props: { world: QueryWorld }) {
  const { query } = useAddress();
  const view = readView(query);
  const key = listAddress(view);
  const { list, loaded, showNewer } = useSessionRows(key, (signal) =>
    listSessions(listQueryOf(view), signal),
  );
  const counts = useCounts(view);
  const rows = loaded.data?.rows ?? [];
  const { chosen, setChosen, sessions, clear } = useChosen(key, rows);
  const reload = () => {
    list.reload();
    counts.reload();
  };
  return (
    <>
      <TabLinks view={view} counts={counts.data}>
        <NewerSessions newer={loaded.data?.newer ?? 0} word="newer" show={showNewer} />
        <ChosenSessions sessions={sessions} changed={reload} clear={clear} />
      </TabLinks>
      <ListFilters view={view} world={props.world} go={go} />
      <Loaded of={loaded} failure="The sessions could not be listed." rows={6} label="Loading sessions">
        {({ newer }) =>
          rows.length > 0 ? (
            <>
              <Dropped projectId={view.projectId} />
              <SessionRows
                rows={rows}
                projectId={view.projectId}
                sorting={view}
                busy={list.loading && list.data?.page !== view.page}
                chosen={chosen}
                onChosen={setChosen}
                onSort={(by) => go({ ...view, ...by, sortBy: by.sortBy ?? view.sortBy, page: 1 })}
              />
              <SessionPaging
                page={view.page}
                list={list.data}
                rows={rows.length}
                onPage={(page) => go({ ...view, page })}
              />
            </>
          ) : (
            newer === 0 && <NoSessions view={view} />
          )
        }
      </Loaded>
    </>
  );
}

/** How many sessions each tab has, read again and again. */
function useCounts(view: ListView): Resource<SessionCounts> {
  const query = countQueryOf(view);
  const counts = useResource(JSON.stringify(query), (signal) => countSessions(query, signal), {
    keepWhileLoading: true,
  });
  useEvery(refreshMs, true, counts.reload);
  return counts;
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
