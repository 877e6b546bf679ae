import { useState } from 'preact/hooks';
import { listMetadataKeys } from '../api.ts';
import { useResource } from '../hooks.ts';
import { SearchField } from '../ui/search-field.tsx';
import type { DraftColumn } from './model.ts';
import { isPicked, picked, picksOf } from './picks.ts';

/** What there is, to tick: fields, and metadata with values of the newest sessions. */
export function PickColumns(props: { columns: DraftColumn[]; onChange: (columns: DraftColumn[]) => void }) {
  const keys = useResource('report-metadata', (signal) => listMetadataKeys(null, signal));
  const [search, setSearch] = useState('');
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = picksOf(keys.data ?? []).filter(({ group, name }) =>
    words.every((word) => `${group} ${name}`.toLowerCase().includes(word)),
  );
  return (
    <fieldset class="report-part">
      <legend>Columns</legend>
      <SearchField label="Search columns" value={search} onValue={setSearch} />
      {found.length === 0 && <p class="faint">No column matches.</p>}
      <div class="report-picks">
        {[...Map.groupBy(found, ({ group }) => group)].map(([group, picks]) => (
          <fieldset key={group}>
            <legend>{group}</legend>
            {picks.map((pick) => (
              <label key={pick.expression} class="check">
                <input
                  type="checkbox"
                  checked={isPicked(pick, props.columns)}
                  onChange={(event) =>
                    props.onChange(picked(props.columns, pick, event.currentTarget.checked))
                  }
                />
                <span>
                  {pick.name} {pick.sample !== '' && <span class="faint">{pick.sample}</span>}
                </span>
              </label>
            ))}
          </fieldset>
        ))}
      </div>
    </fieldset>
  );
}
