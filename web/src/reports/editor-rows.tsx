import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { AddPart, IconButton } from '../ui/buttons.tsx';
import { Select } from '../ui/form.tsx';
import type { Candidate } from './completion.ts';
import { ExpressionField } from './expression-field.tsx';
import type { DraftColumn, DraftFilter } from './model.ts';
import { changed, columnTypes, moved, newColumn, newFilter, sources } from './model.ts';

const maxColumns = 100;
const maxFilters = 50;

interface Columns {
  columns: DraftColumn[];
  candidates: readonly Candidate[];
  onChange: (columns: DraftColumn[]) => void;
}

/** The columns, in the order in which the file has them. */
export function ColumnRows(props: Columns) {
  const { columns, onChange } = props;
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
          <ColumnRow key={column.id} {...props} column={column} index={index} />
        ))}
      </ul>
      <div class="actions">
        <AddPart
          label="Column"
          disabled={columns.length >= maxColumns}
          onClick={() => onChange([...columns, newColumn()])}
        />
      </div>
    </fieldset>
  );
}

function ColumnRow(props: { column: DraftColumn; index: number } & Columns) {
  const { columns, column, index, onChange } = props;
  const name = `column ${index + 1}`;
  const change = (part: Partial<DraftColumn>) => onChange(changed(columns, column.id, part));
  return (
    <li class="report-row">
      <Cell label={`Heading of ${name}`} lead="Heading">
        <input
          class="select"
          required
          value={column.name}
          onInput={(event) => change({ name: event.currentTarget.value })}
        />
      </Cell>
      <ExpressionCell
        row={name}
        value={column.expression}
        candidates={props.candidates}
        onValue={(expression) => change({ expression })}
      />
      <ChoiceCell
        row={name}
        lead="Type"
        value={column.type}
        options={columnTypes}
        onValue={(type) => change({ type })}
      />
      <Cell label={`Excel format of ${name}`} lead="Excel format">
        <input
          class="select mono-input"
          placeholder="default"
          value={column.format}
          onInput={(event) => change({ format: event.currentTarget.value })}
        />
      </Cell>
      <ChoiceCell
        row={name}
        lead="Source"
        value={column.source}
        options={sources}
        onValue={(source) => change({ source })}
      />
      <ColumnEnd columns={columns} index={index} name={name} onChange={onChange} />
    </li>
  );
}

/** The buttons that move a column and remove it. */
function ColumnEnd(props: { index: number; name: string } & Omit<Columns, 'candidates'>) {
  const { columns, index, name, onChange } = props;
  const buttons = useRef<HTMLDivElement>(null);
  const movedBy = useRef<-1 | 1 | null>(null);
  const move = (by: -1 | 1) => {
    movedBy.current = by;
    onChange(moved(columns, index, by));
  };
  // A row that is moved loses the focus, and a button that has gone dead as well.
  useLayoutEffect(() => {
    if (movedBy.current === null) return;
    const [up, down] = buttons.current?.querySelectorAll('button') ?? [];
    const wanted = movedBy.current === -1 ? [up, down] : [down, up];
    movedBy.current = null;
    wanted.find((button) => button?.disabled === false)?.focus();
  }, [index]);
  return (
    <div class="report-row-end" ref={buttons}>
      <IconButton icon="up" label={`Move ${name} up`} disabled={index === 0} onClick={() => move(-1)} />
      <IconButton
        icon="down"
        label={`Move ${name} down`}
        disabled={index === columns.length - 1}
        onClick={() => move(1)}
      />
      <IconButton
        icon="cross"
        label={`Remove ${name}`}
        onClick={() => onChange(columns.filter((_column, at) => at !== index))}
      />
    </div>
  );
}

/** The filters: a row is included when every expression equals its value. */
export function FilterRows(props: {
  filters: DraftFilter[];
  candidates: readonly Candidate[];
  onChange: (filters: DraftFilter[]) => void;
}) {
  const { filters, onChange } = props;
  return (
    <fieldset class="report-part">
      <legend>Filters</legend>
      {filters.length === 0 && <p class="field-hint">No filters: every row is kept.</p>}
      <ul class="report-rows">
        {filters.map((filter, index) => (
          <FilterRow
            key={filter.id}
            filter={filter}
            name={`filter ${index + 1}`}
            candidates={props.candidates}
            onChange={(part) => onChange(changed(filters, filter.id, part))}
            onRemove={() => onChange(filters.filter(({ id }) => id !== filter.id))}
          />
        ))}
      </ul>
      <div class="actions">
        <AddPart
          label="Filter"
          disabled={filters.length >= maxFilters}
          onClick={() => onChange([...filters, newFilter()])}
        />
      </div>
    </fieldset>
  );
}

function FilterRow(props: {
  filter: DraftFilter;
  /** `filter 1`. */
  name: string;
  candidates: readonly Candidate[];
  onChange: (part: Partial<DraftFilter>) => void;
  onRemove: () => void;
}) {
  const { filter, name, onChange } = props;
  return (
    <li class="report-row report-row-filter">
      <ExpressionCell
        row={name}
        value={filter.expression}
        candidates={props.candidates}
        onValue={(expression) => onChange({ expression })}
      />
      <Cell label={`Value of ${name}`} lead="equals">
        <input
          class="select"
          value={filter.value}
          onInput={(event) => onChange({ value: event.currentTarget.value })}
        />
      </Cell>
      <ChoiceCell
        row={name}
        lead="Source"
        value={filter.source}
        options={sources}
        onValue={(source) => onChange({ source })}
      />
      <div class="report-row-end">
        <IconButton icon="cross" label={`Remove ${name}`} onClick={props.onRemove} />
      </div>
    </li>
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

function ExpressionCell(props: {
  /** `column 1`. */
  row: string;
  value: string;
  candidates: readonly Candidate[];
  onValue: (value: string) => void;
}) {
  const { row, ...field } = props;
  return (
    <Cell label={`Expression of ${row}`} lead="Expression" wide>
      <ExpressionField {...field} />
    </Cell>
  );
}

function ChoiceCell<Value extends string>(props: {
  row: string;
  lead: string;
  value: Value;
  options: readonly Value[];
  onValue: (value: Value) => void;
}) {
  const options = props.options.map((value) => ({ value, label: value }));
  return (
    <Cell label={`${props.lead} of ${props.row}`} lead={props.lead}>
      <Select value={props.value} options={options} onValue={props.onValue} />
    </Cell>
  );
}
