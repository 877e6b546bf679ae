import { useRef } from 'preact/hooks';
import { listOwnSessions } from '../api.ts';
import { plural } from '../format.ts';
import { navigate, useAddress } from '../router.ts';
import { Empty, Failure, Placeholder } from '../ui/notice.tsx';
import { Paging } from '../ui/paging.tsx';
import { Table } from '../ui/table.tsx';
import { pageSize, readPage } from './address.ts';
import type { ShownRow } from './list-model.ts';
import { SessionCells } from './row-cells.tsx';
import { useRowKeys } from './row-keys.ts';
import { useSessionRows } from './use-rows.ts';

/** The sessions of a Trainee, who may not list those of others. The page is in the address. */
export function OwnSessions() {
  const page = readPage(useAddress().query);
  const { list, shown, showNewer } = useSessionRows(String(page), (signal) =>
    listOwnSessions({ page, pageSize }, signal),
  );
  const rows = shown?.rows ?? [];
  return (
    <>
      <div class="found-head">
        <p class="faint">Sessions that you made or in which you take part. Open any other by its link.</p>
        {shown !== null && shown.newer > 0 && (
          <button type="button" class="button button-small sessions-newer" onClick={showNewer}>
            Show {plural(shown.newer, 'newer session', 'newer sessions')}
          </button>
        )}
      </div>
      {list.error !== null && (
        <Failure what="Your sessions could not be listed." error={list.error} retry={list.reload} />
      )}
      {shown === null && list.error === null && <Placeholder rows={4} label="Loading your sessions" />}
      {shown !== null && rows.length === 0 && <NoSessions page={page} />}
      {rows.length > 0 && (
        <>
          <OwnRows rows={rows} busy={list.loading && list.data?.page !== page} />
          <Paging
            page={page}
            totalPages={Math.max(1, list.data?.totalPages ?? 1)}
            summary={
              (list.data?.totalCountIsExact === false ? 'the newest ' : '') +
              plural(list.data?.totalCount ?? rows.length, 'session', 'sessions')
            }
            onPage={(to) => navigate(to === 1 ? '/sessions' : `/sessions?page=${to}`)}
          />
        </>
      )}
    </>
  );
}

function NoSessions({ page }: { page: number }) {
  if (page > 1)
    return (
      <Empty title="This page has no sessions">
        <p>
          <a href="/sessions">The first page</a>
        </p>
      </Empty>
    );
  return (
    <Empty title="No sessions yet">
      <p>A session appears here as soon as you make it, or when you are added to one.</p>
    </Empty>
  );
}

function OwnRows(props: { rows: readonly ShownRow[]; busy: boolean }) {
  const frame = useRef<HTMLDivElement>(null);
  useRowKeys(frame, () => undefined);
  const pinned = props.rows.some(({ session }) => session.pinnedMetadata.length > 0);
  return (
    <div class="session-rows" ref={frame}>
      <Table
        caption="Your sessions"
        busy={props.busy}
        columns={[
          'State',
          'Session',
          'Project',
          ...(pinned ? ['Metadata'] : []),
          'Size',
          'Owner',
          'Last activity',
          'Created',
          <th key="dashboard" scope="col">
            <span class="visually-hidden">Dashboard</span>
          </th>,
        ]}
      >
        {props.rows.map(({ session, isGone }) => (
          <tr
            key={session.id}
            class={isGone ? 'row-gone' : ''}
            title={isGone ? 'No longer in this list' : undefined}
          >
            <SessionCells session={session} pinned={pinned} />
          </tr>
        ))}
      </Table>
    </div>
  );
}
