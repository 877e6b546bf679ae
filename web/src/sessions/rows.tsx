import { useEffect, useRef } from 'preact/hooks';
import { Icon } from '../ui/icon.tsx';
import { Table } from '../ui/table.tsx';
import type { Sorting, SortKey } from './address.ts';
import type { ShownRow } from './list-model.ts';
import { SessionCells } from './row-cells.tsx';
import { useRowKeys } from './row-keys.ts';

/** Sessions as compact rows that open them: state first, then what people know them by. */
export function SessionRows(props: {
  rows: readonly ShownRow[];
  sorting: Sorting;
  busy: boolean;
  chosen: ReadonlySet<string>;
  onChosen: (chosen: ReadonlySet<string>) => void;
  onSort: (sorting: Sorting) => void;
}) {
  const { rows, chosen, sorting } = props;
  const frame = useRef<HTMLDivElement>(null);
  const choose = (id: string, on: boolean) => {
    const next = new Set(chosen);
    if (on) next.add(id);
    else next.delete(id);
    props.onChosen(next);
  };
  useRowKeys(frame, (id) => choose(id, !chosen.has(id)));
  const present = rows.filter(({ isGone }) => !isGone).map(({ session }) => session.id);
  const hasAll = present.length > 0 && present.every((id) => chosen.has(id));
  const pinned = rows.some(({ session }) => session.pinnedMetadata.length > 0);
  const heading = (title: string, sortBy: SortKey) => (
    <SortableHeading key={title} title={title} sortBy={sortBy} sorting={sorting} onSort={props.onSort} />
  );
  const all = (
    <th key="chosen" scope="col" class="row-choice">
      <AllBox
        has={hasAll}
        some={chosen.size > 0}
        onAll={() => props.onChosen(new Set(hasAll ? [] : present))}
      />
    </th>
  );
  return (
    <div class="session-rows" ref={frame}>
      <Table
        caption="Sessions"
        busy={props.busy}
        columns={[
          all,
          'State',
          heading('Session', 'name'),
          'Project',
          ...(pinned ? ['Metadata'] : []),
          'Size',
          'Owner',
          'Last activity',
          heading('Created', 'date'),
          <th key="dashboard" scope="col">
            <span class="visually-hidden">Dashboard</span>
          </th>,
        ]}
      >
        {rows.map(({ session, isGone }) => (
          <tr
            key={session.id}
            data-id={session.id}
            class={isGone ? 'row-gone' : chosen.has(session.id) ? 'row-chosen' : ''}
            title={isGone ? 'No longer in this list' : undefined}
          >
            <td class="row-choice">
              <input
                type="checkbox"
                aria-label={`Choose ${session.name}`}
                disabled={isGone}
                checked={chosen.has(session.id)}
                onChange={(event) => choose(session.id, event.currentTarget.checked)}
              />
            </td>
            <SessionCells session={session} pinned={pinned} />
          </tr>
        ))}
      </Table>
    </div>
  );
}

function AllBox(props: { has: boolean; some: boolean; onAll: () => void }) {
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (box.current !== null) box.current.indeterminate = props.some && !props.has;
  }, [props.some, props.has]);
  return (
    <input
      ref={box}
      type="checkbox"
      aria-label="Choose all on this page"
      checked={props.has}
      onChange={props.onAll}
    />
  );
}

function SortableHeading(props: {
  title: string;
  sortBy: SortKey;
  sorting: Sorting;
  onSort: (sorting: Sorting) => void;
}) {
  const { sortBy, sorting } = props;
  const active = sorting.sortBy === sortBy;
  const ascending = sorting.sortOrder === 'asc';
  const sortOrder = active ? (ascending ? 'desc' : 'asc') : sortBy === 'name' ? 'asc' : 'desc';
  return (
    <th scope="col" {...(active ? { 'aria-sort': ascending ? 'ascending' : 'descending' } : {})}>
      <button type="button" class="sort" onClick={() => props.onSort({ sortBy, sortOrder })}>
        {props.title}
        {active && <Icon name={ascending ? 'up' : 'down'} />}
      </button>
    </th>
  );
}
