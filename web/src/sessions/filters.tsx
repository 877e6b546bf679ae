import { useState } from 'preact/hooks';
import { daysUpToNow } from '../days.ts';
import { titleOf } from '../names.ts';
import { writeAskedQuery } from '../query/address.ts';
import type { QueryWorld } from '../query/model.ts';
import { DateRange } from '../ui/date-range.tsx';
import { Select } from '../ui/form.tsx';
import { Icon } from '../ui/icon.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { useSearchText } from '../ui/search-text.ts';
import { filterOf, isFiltered, type ListView } from './address.ts';

/** Search, project, template and days of the list of sessions. */
export function ListFilters(props: {
  view: ListView;
  world: QueryWorld;
  go: (view: ListView, replace?: boolean) => void;
}) {
  const { view, world, go } = props;
  const [search, setSearch] = useSearchText(view.search, (text) =>
    go({ ...view, search: text, page: 1 }, true),
  );
  const change = (part: Partial<ListView>) => go({ ...view, ...part, page: 1 });
  return (
    <div class="filters session-filters">
      <SearchField
        label="Search by session name, simulation or id"
        placeholder="Search by name, simulation or id"
        value={search}
        onValue={setSearch}
      />
      <IdFilter
        label="Project"
        all="All projects"
        value={view.projectId}
        options={world.projects.map(({ id, title }) => ({ id, name: title }))}
        onValue={(projectId) => change({ projectId })}
      />
      <IdFilter
        label="Template"
        all="All templates"
        value={view.sessionTemplateId}
        options={world.templates.map(({ id, name }) => ({ id, name: titleOf(name) }))}
        onValue={(sessionTemplateId) => change({ sessionTemplateId })}
      />
      <Period from={view.from} to={view.to} onChange={(from, to) => change({ from, to })} />
      <MetadataLink view={view} />
      {isFiltered(view) && (
        <button
          type="button"
          class="button button-small button-quiet"
          onClick={() => {
            setSearch('');
            change({ search: '', projectId: null, sessionTemplateId: null, from: '', to: '' });
          }}
        >
          Clear filters
        </button>
      )}
    </div>
  );
}

/** To the query of these filters, with a further condition for metadata. */
function MetadataLink({ view }: { view: ListView }) {
  const query = writeAskedQuery({ filter: filterOf(view), orderBy: [] });
  return (
    <a class="button button-small button-quiet" href={`/sessions?${query}&add=metadata`}>
      <Icon name="plus" />
      Metadata
    </a>
  );
}

const periods = [
  { value: '', label: 'Any time' },
  { value: '1', label: 'Today' },
  { value: '7', label: 'Last 7 days' },
  { value: '30', label: 'Last 30 days' },
  { value: 'days', label: 'Days …' },
] as const;

/** A usual period, or from one day to another. */
function Period(props: { from: string; to: string; onChange: (from: string, to: string) => void }) {
  const { from, to } = props;
  const [ownDays, setOwnDays] = useState(false);
  const usual = periods.find(({ value }) => value !== 'days' && from === daysUpToNow(value) && to === '');
  const chosen = ownDays ? 'days' : (usual?.value ?? 'days');
  return (
    <>
      <Select
        label="Created"
        class="filter"
        value={chosen}
        options={periods}
        onValue={(value) => {
          setOwnDays(value === 'days');
          if (value !== 'days') props.onChange(daysUpToNow(value), '');
        }}
      />
      {chosen === 'days' && <DateRange from={from} to={to} onChange={props.onChange} />}
    </>
  );
}

function IdFilter(props: {
  label: string;
  all: string;
  value: number | null;
  options: readonly { id: number; name: string }[];
  onValue: (id: number | null) => void;
}) {
  const isKnown = props.value === null || props.options.some(({ id }) => id === props.value);
  return (
    <Select
      label={props.label}
      class="filter"
      value={props.value === null ? '' : String(props.value)}
      options={[
        { value: '', label: props.all },
        ...(isKnown ? [] : [{ value: String(props.value), label: `${props.label} ${props.value}` }]),
        ...props.options.map(({ id, name }) => ({ value: String(id), label: name })),
      ]}
      onValue={(id) => props.onValue(id === '' ? null : Number(id))}
    />
  );
}
