import { useEffect, useRef } from 'preact/hooks';
import { Icon } from '../ui/icon.tsx';
import { Table } from '../ui/table.tsx';
import type { Sorting, SortKey } from './address.ts';
import type { ShownRow } from './list-model.ts';
import { partsOf, type RowParts, SessionCells, sessionColumns } from './row-cells.tsx';
import { useRowKeys } from './row-keys.ts';

interface Props {
  rows: readonly ShownRow[];
  /** The project of all rows; null where they are of several. */
  projectId: number | null;
  sorting: Sorting;
  busy: boolean;
  chosen: ReadonlySet<string>;
  onChosen: (chosen: ReadonlySet<string>) => void;
  onSort: (sorting: Sorting) => void;
}

/** Sessions as compact rows that open them: state first, then what people know them by. */
export function SessionRows(props: Props) {
  const { rows, chosen, sorting } = props;
  const frame = useRef<HTMLDivElement>(null);
  const choose = (id: string, on: boolean) => {
    const next = new Set(chosen);
    if (on) next.add(id);
    else next.delete(id);
    props.onChosen(next);
  };
  useRowKeys(frame, (id) => choose(id, !chosen.has(id)));
  const parts = partsOf(rows, props.projectId);
  const heading = (title: string, sortBy: SortKey) => (
    <SortableHeading key={title} title={title} sortBy={sortBy} sorting={sorting} onSort={props.onSort} />
  );
  const all = <AllHeading key="chosen" rows={rows} chosen={chosen} onChosen={props.onChosen} />;
  return (
    <div class="session-rows" ref={frame}>
      <Table
        caption="Sessions"
        busy={props.busy}
        columns={[all, ...sessionColumns(parts, heading('Session', 'name'), heading('Created', 'date'))]}
      >
        {rows.map((row) => (
          <ChoiceRow
            key={row.session.id}
            row={row}
            parts={parts}
            chosen={chosen.has(row.session.id)}
            choose={(on) => choose(row.session.id, on)}
          />
        ))}
      </Table>
    </div>
  );
}

function ChoiceRow(props: {
  row: ShownRow;
  parts: RowParts;
  chosen: boolean;
  choose: (on: boolean) => void;
}) {
  const { session, isGone } = props.row;
  return (
    <tr
      data-id={session.id}
      class={isGone ? 'row-gone' : props.chosen ? 'row-chosen' : ''}
      title={isGone ? 'No longer in this list' : undefined}
    >
      <td class="row-choice">
        <input
          type="checkbox"
          aria-label={`Choose ${session.name}`}
          disabled={isGone}
          checked={props.chosen}
          onChange={(event) => props.choose(event.currentTarget.checked)}
        />
      </td>
      <SessionCells session={session} parts={props.parts} />
    </tr>
  );
}

/** Chooses all on the page, or none. */
function AllHeading({ rows, chosen, onChosen }: Pick<Props, 'rows' | 'chosen' | 'onChosen'>) {
  const present = rows.filter(({ isGone }) => !isGone).map(({ session }) => session.id);
  const hasAll = present.length > 0 && present.every((id) => chosen.has(id));
  const hasSome = chosen.size > 0;
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (box.current !== null) box.current.indeterminate = hasSome && !hasAll;
  }, [hasSome, hasAll]);
  return (
    <th scope="col" class="row-choice">
      <input
        ref={box}
        type="checkbox"
        aria-label="Choose all on this page"
        checked={hasAll}
        onChange={() => onChosen(new Set(hasAll ? [] : present))}
      />
    </th>
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
