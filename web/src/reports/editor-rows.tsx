import type { ComponentChildren } from 'preact';
import { Select } from '../ui/form.tsx';
import { Icon } from '../ui/icon.tsx';
import type { Candidate } from './completion.ts';
import { ExpressionField } from './expression-field.tsx';
import type { DraftColumn, DraftFilter } from './model.ts';
import { columnTypes, moved, newColumn, newFilter, sources } from './model.ts';

const mostColumns = 100;
const mostFilters = 50;

/** The columns, in the order in which the file has them. */
export function ColumnRows(props: {
  columns: DraftColumn[];
  candidates: readonly Candidate[];
  onChange: (columns: DraftColumn[]) => void;
}) {
  const { columns, candidates, onChange } = props;
  const change = (id: number, part: Partial<DraftColumn>) =>
    onChange(columns.map((column) => (column.id === id ? { ...column, ...part } : column)));
  return (
    <fieldset class="report-part">
      <legend>Columns</legend>
      <p class="field-hint">
        Expressions are CEL over <code>dimension</code>, <code>metadata</code>, <code>scenarioInstance</code>,{' '}
        <code>user</code>, <code>dashboard</code>, <code>annotations</code> and <code>channels</code>:{' '}
        <code>dimension.sessionName</code>. Names are suggested while you write.
      </p>
      <ul class="report-rows">
        {columns.map((column, index) => (
          <li key={column.id} class="report-row">
            <Cell label={`Heading of column ${index + 1}`} lead="Heading">
              <input
                class="select"
                required
                value={column.name}
                onInput={(event) => change(column.id, { name: event.currentTarget.value })}
              />
            </Cell>
            <Cell label={`Expression of column ${index + 1}`} lead="Expression" wide>
              <ExpressionField
                value={column.expression}
                candidates={candidates}
                onValue={(expression) => change(column.id, { expression })}
              />
            </Cell>
            <Cell label={`Type of column ${index + 1}`} lead="Type">
              <Choice
                value={column.type}
                options={columnTypes}
                onValue={(type) => change(column.id, { type })}
              />
            </Cell>
            <Cell label={`Excel format of column ${index + 1}`} lead="Excel format">
              <input
                class="select mono-input"
                placeholder="default"
                value={column.format}
                onInput={(event) => change(column.id, { format: event.currentTarget.value })}
              />
            </Cell>
            <Cell label={`Source of column ${index + 1}`} lead="Source">
              <Choice
                value={column.source}
                options={sources}
                onValue={(source) => change(column.id, { source })}
              />
            </Cell>
            <div class="report-row-end">
              <RowButton
                icon="up"
                label={`Move column ${index + 1} up`}
                disabled={index === 0}
                act={() => onChange(moved(columns, index, -1))}
              />
              <RowButton
                icon="down"
                label={`Move column ${index + 1} down`}
                disabled={index === columns.length - 1}
                act={() => onChange(moved(columns, index, 1))}
              />
              <RowButton
                icon="cross"
                label={`Remove column ${index + 1}`}
                disabled={false}
                act={() => onChange(columns.filter(({ id }) => id !== column.id))}
              />
            </div>
          </li>
        ))}
      </ul>
      <AddButton
        label="Column"
        disabled={columns.length >= mostColumns}
        act={() => onChange([...columns, newColumn()])}
      />
    </fieldset>
  );
}

/** The filters: a row is included when every expression equals its value. */
export function FilterRows(props: {
  filters: DraftFilter[];
  candidates: readonly Candidate[];
  onChange: (filters: DraftFilter[]) => void;
}) {
  const { filters, candidates, onChange } = props;
  const change = (id: number, part: Partial<DraftFilter>) =>
    onChange(filters.map((filter) => (filter.id === id ? { ...filter, ...part } : filter)));
  return (
    <fieldset class="report-part">
      <legend>Filters</legend>
      {filters.length === 0 && <p class="field-hint">No filters: every row is kept.</p>}
      <ul class="report-rows">
        {filters.map((filter, index) => (
          <li key={filter.id} class="report-row report-row-filter">
            <Cell label={`Expression of filter ${index + 1}`} lead="Expression" wide>
              <ExpressionField
                value={filter.expression}
                candidates={candidates}
                onValue={(expression) => change(filter.id, { expression })}
              />
            </Cell>
            <Cell label={`Value of filter ${index + 1}`} lead="equals">
              <input
                class="select"
                value={filter.value}
                onInput={(event) => change(filter.id, { value: event.currentTarget.value })}
              />
            </Cell>
            <Cell label={`Source of filter ${index + 1}`} lead="Source">
              <Choice
                value={filter.source}
                options={sources}
                onValue={(source) => change(filter.id, { source })}
              />
            </Cell>
            <div class="report-row-end">
              <RowButton
                icon="cross"
                label={`Remove filter ${index + 1}`}
                disabled={false}
                act={() => onChange(filters.filter(({ id }) => id !== filter.id))}
              />
            </div>
          </li>
        ))}
      </ul>
      <AddButton
        label="Filter"
        disabled={filters.length >= mostFilters}
        act={() => onChange([...filters, newFilter()])}
      />
    </fieldset>
  );
}

function Cell(props: { label: string; lead: string; wide?: boolean; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is the child
    <label class={props.wide === true ? 'report-cell report-cell-wide' : 'report-cell'}>
      <span aria-hidden="true">{props.lead}</span>
      <span class="visually-hidden">{props.label}</span>
      {props.children}
    </label>
  );
}

function Choice<Value extends string>(props: {
  value: Value;
  options: readonly Value[];
  onValue: (value: Value) => void;
}) {
  const options = props.options.map((value) => ({ value, label: value }));
  return <Select value={props.value} options={options} onValue={props.onValue} />;
}

function RowButton(props: {
  icon: 'up' | 'down' | 'cross';
  label: string;
  disabled: boolean;
  act: () => void;
}) {
  return (
    <button
      type="button"
      class="button button-icon"
      aria-label={props.label}
      title={props.label}
      disabled={props.disabled}
      onClick={props.act}
    >
      <Icon name={props.icon} />
    </button>
  );
}

function AddButton(props: { label: string; disabled: boolean; act: () => void }) {
  return (
    <div class="actions">
      <button type="button" class="button button-small" disabled={props.disabled} onClick={props.act}>
        <Icon name="plus" />
        {props.label}
      </button>
    </div>
  );
}
