import { useRef } from 'preact/hooks';
import { listOwnSessions } from '../api.ts';
import { plural } from '../format.ts';
import { navigate, useAddress } from '../router.ts';
import { Loaded } from '../ui/loaded.tsx';
import { Empty } from '../ui/notice.tsx';
import { Paging } from '../ui/paging.tsx';
import { Table } from '../ui/table.tsx';
import { pageSize, readPage } from './address.ts';
import type { ShownRow } from './list-model.ts';
import { partsOf, SessionCells, sessionColumns } from './row-cells.tsx';
import { useRowKeys } from './row-keys.ts';
import { NewerSessions } from './row-parts.tsx';
import { useSessionRows } from './use-rows.ts';

/** The sessions of a Trainee, who may not list those of others. The page is in the address. */
export function OwnSessions() {
  const page = readPage(useAddress().query);
  const { list, loaded, showNewer } = useSessionRows(String(page), (signal) =>
    listOwnSessions({ page, pageSize }, signal),
  );
  return (
    <>
      <div class="found-head">
        <p class="faint">Sessions that you made or in which you take part. Open any other by its link.</p>
        <NewerSessions newer={loaded.data?.newer ?? 0} word="newer" show={showNewer} />
      </div>
      <Loaded of={loaded} failure="Your sessions could not be listed." rows={4} label="Loading your sessions">
        {({ rows }) =>
          rows.length === 0 ? (
            <NoSessions />
          ) : (
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
          )
        }
      </Loaded>
    </>
  );
}

function NoSessions() {
  return (
    <Empty title="No sessions yet">
      <p>A session appears here as soon as you make it, or when you are added to one.</p>
    </Empty>
  );
}

function OwnRows(props: { rows: readonly ShownRow[]; busy: boolean }) {
  const frame = useRef<HTMLDivElement>(null);
  useRowKeys(frame, () => undefined);
  const parts = partsOf(props.rows, null);
  return (
    <div class="session-rows" ref={frame}>
      <Table caption="Your sessions" busy={props.busy} columns={sessionColumns(parts)}>
        {props.rows.map(({ session, isGone }) => (
          <tr
            key={session.id}
            class={isGone ? 'row-gone' : ''}
            title={isGone ? 'No longer in this list' : undefined}
          >
            <SessionCells session={session} parts={parts} />
          </tr>
        ))}
      </Table>
    </div>
  );
}
