import type { ComponentChildren } from 'preact';
import type { Sorting } from './address.ts';
import { ChosenSessions } from './chosen.tsx';
import type { ShownRow } from './list-model.ts';
import { SessionRows } from './rows.tsx';
import { useChosen } from './use-rows.ts';

/** What a query found, as the rows of the list, chosen to act on them. */
export function FoundRows(props: {
  /** Another one begins with none chosen. */
  address: string;
  rows: readonly ShownRow[];
  sorting: Sorting;
  busy: boolean;
  onSort: (sorting: Sorting) => void;
  /** An action has changed sessions. */
  changed: () => void;
  children: ComponentChildren;
}) {
  const { rows } = props;
  const { chosen, setChosen, sessions, clear } = useChosen(props.address, rows);
  return (
    <>
      <div class="found-head">
        <h2>Results</h2>
        {props.children}
        <ChosenSessions sessions={sessions} changed={props.changed} clear={clear} />
      </div>
      {rows.length > 0 && (
        <SessionRows
          rows={rows}
          projectId={null}
          sorting={props.sorting}
          busy={props.busy}
          chosen={chosen}
          onChosen={setChosen}
          onSort={props.onSort}
        />
      )}
    </>
  );
}
