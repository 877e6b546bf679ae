import { useState } from 'preact/hooks';
import { type CatalogDimension, listDimensions } from '../dashboard-api.ts';
import { useResource, useSettled } from '../hooks.ts';
import { Ago } from '../ui/ago.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { SearchField } from '../ui/search-field.tsx';

/** A button that finds another session's dashboard to compare with. */
export function AddSession(props: {
  /** Dashboards that are shown already. */
  shown: readonly number[];
  onAdd: (dashboardId: number) => void;
}) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="button button-small" onClick={() => setOpen(true)}>
        <Icon name="plus" />
        Add session
      </button>
      {open && (
        <Dialog title="Add a session" onClose={() => setOpen(false)}>
          <Find
            shown={props.shown}
            onAdd={(id) => {
              setOpen(false);
              props.onAdd(id);
            }}
          />
        </Dialog>
      )}
    </>
  );
}

function Find(props: { shown: readonly number[]; onAdd: (dashboardId: number) => void }) {
  const [search, setSearch] = useState('');
  const settled = useSettled(search, 250);
  const found = useResource(
    settled,
    (signal) =>
      listDimensions(
        { search: settled, projectId: null, from: '', to: '', page: 1, order: 'descending' },
        signal,
      ),
    { keepWhileLoading: true },
  );
  const dashboards = (found.data?.dimensions ?? []).filter(({ id }) => !props.shown.includes(id));
  return (
    <div class="add-session">
      <SearchField label="Search sessions with a dashboard" value={search} onValue={setSearch} />
      <Loaded of={found} failure="The sessions could not be listed." rows={4} label="Loading sessions">
        {() =>
          dashboards.length === 0 && (
            <p class="faint">
              {settled === '' ? 'No other session has a dashboard yet.' : 'No session matches.'}
            </p>
          )
        }
      </Loaded>
      <ul>
        {dashboards.map((one) => (
          <li key={one.id}>
            <button type="button" class="add-session-entry" onClick={() => props.onAdd(one.id)}>
              <strong>{one.sessionName}</strong>
              <span class="faint">{factsOf(one)}</span>
              <span class="faint">
                <Ago at={one.createdAt} />
              </span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

const factsOf = ({ projectTitle, title, sessionName }: CatalogDimension) =>
  title === '' || title === 'Recording' || title === sessionName
    ? projectTitle
    : `${projectTitle} · ${title}`;
