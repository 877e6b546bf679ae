import { useState } from 'preact/hooks';
import type { SessionDimension } from '../api.ts';
import { formatCount } from '../format.ts';
import { Icon } from '../ui/icon.tsx';
import { Empty } from '../ui/notice.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { Chart } from './chart/chart.tsx';
import type { ChartProps } from './chart/props.ts';
import type { Machine, MachineRow } from './machines.ts';
import { offeredAtOnce, offeredMachines, sharedScale } from './machines.ts';

type ChartWorld = Omit<ChartProps, 'panel' | 'lead' | 'scale' | 'height'>;

/** One column for each machine, all over one time axis; the charts of a row share their scale too. */
export function MachineGrid(props: { rows: MachineRow[]; machines: Machine[]; world: ChartWorld }) {
  const { rows, machines, world } = props;
  if (machines.length === 0) return <Empty title="Choose a machine to draw it" />;
  if (rows.length === 0) return <Empty title="Choose a channel to draw it" />;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, and keys scroll only what has the focus
    <section class="machine-grid" aria-label="Machines side by side" tabIndex={0}>
      <div class="machine-columns" style={{ '--machines': String(machines.length) }}>
        {rows.flatMap((row) => {
          const scale = sharedScale(row, world.series);
          return row.cells.map((panel, index) => {
            const machine = machines[index]!;
            return panel === null ? (
              <section
                key={`${row.id} ${machine.id}`}
                class="chart chart-absent"
                aria-label={`${machine.title} has no ${row.title}`}
              >
                <header class="chart-head">
                  <span class="chart-lead">{machine.title}</span>
                </header>
                <p class="faint">No {row.title} here.</p>
              </section>
            ) : (
              <Chart key={panel.id} {...world} panel={panel} lead={machine.title} scale={scale} />
            );
          });
        })}
      </div>
    </section>
  );
}

/** The choice of machines to show side by side, and of the session's other dashboards to add. */
export function MachineChoice(props: {
  machines: Machine[];
  chosen: ReadonlySet<string>;
  onChosen: (ids: string[]) => void;
  /** The other dashboards of the session. */
  others: readonly SessionDimension[];
  /** Ids of the dashboards that are shown, this one first. */
  dashboards: string[];
  onDashboards: (ids: string[]) => void;
}) {
  const { machines, chosen, others } = props;
  return (
    <fieldset class="machine-choice">
      <legend class="visually-hidden">Machines</legend>
      <MachineChips machines={machines} chosen={chosen} onChosen={props.onChosen} />
      {others.length > 0 && (
        <AddDashboard
          others={others}
          onAdd={(id) => props.onDashboards([...props.dashboards.slice(1), id])}
        />
      )}
      {props.dashboards.length > 1 && (
        <button type="button" class="button button-small button-quiet" onClick={() => props.onDashboards([])}>
          <Icon name="cross" />
          This dashboard only
        </button>
      )}
    </fieldset>
  );
}

function MachineChips(props: {
  machines: readonly Machine[];
  chosen: ReadonlySet<string>;
  onChosen: (ids: string[]) => void;
}) {
  const { machines, chosen } = props;
  const [search, setSearch] = useState('');
  const choose = (id: string, on: boolean) => {
    const isShown = (machine: Machine) => (machine.id === id ? on : chosen.has(machine.id));
    props.onChosen(machines.filter(isShown).map((machine) => machine.id));
  };
  return (
    <>
      {machines.length > offeredAtOnce && (
        <SearchField
          label={`Search all ${formatCount(machines.length)}`}
          value={search}
          onValue={setSearch}
        />
      )}
      {offeredMachines(machines, chosen, search).map(({ id, title }) => (
        <label key={id} class="machine-chip">
          <input
            type="checkbox"
            checked={chosen.has(id)}
            onChange={(event) => choose(id, event.currentTarget.checked)}
          />
          <span>{title}</span>
        </label>
      ))}
    </>
  );
}

/** Adds one of the other dashboards of the session. */
function AddDashboard(props: { others: readonly SessionDimension[]; onAdd: (id: string) => void }) {
  return (
    <select
      class="select"
      aria-label="Add a dashboard of this session"
      value=""
      onChange={(event) => {
        const id = event.currentTarget.value;
        if (id !== '') props.onAdd(id);
      }}
    >
      <option value="">Add a dashboard …</option>
      {props.others.map(({ id, name }) => (
        <option key={id} value={String(id)}>
          {name}
        </option>
      ))}
    </select>
  );
}
