import { AddPart } from '../ui/buttons.tsx';
import { Select } from '../ui/form.tsx';
import { RemovePart } from './buttons.tsx';
import { fields, queryLimits } from './fields.ts';
import type { Ordering } from './model.ts';

/** The order of the results; without one, newest first. */
export function Orderings(props: { orderBy: Ordering[]; onChange: (orderBy: Ordering[]) => void }) {
  const { orderBy } = props;
  const change = (index: number, part: Partial<Ordering>) =>
    props.onChange(orderBy.map((item, at) => (at === index ? { ...item, ...part } : item)));
  return (
    <fieldset class="query-order">
      <legend class="visually-hidden">Order of the results</legend>
      {orderBy.map((ordering, index) => (
        <OrderingRow
          key={index}
          ordering={ordering}
          number={index + 1}
          onChange={(part) => change(index, part)}
          onRemove={() => props.onChange(orderBy.filter((_item, at) => at !== index))}
        />
      ))}
      <datalist id="query-order-paths">
        {fields.map(({ path, label }) => (
          <option key={path} value={path}>
            {label}
          </option>
        ))}
      </datalist>
      {orderBy.length < queryLimits.orderings && (
        <div class="actions">
          <AddPart
            label="Add order"
            onClick={() => props.onChange([...orderBy, { path: 'createdAt', direction: 'desc' }])}
          />
          {orderBy.length === 0 && <span class="faint">Default: newest first.</span>}
        </div>
      )}
    </fieldset>
  );
}

const directions = [
  { value: 'asc', label: 'lowest first' },
  { value: 'desc', label: 'highest first' },
] as const;

function OrderingRow(props: {
  ordering: Ordering;
  number: number;
  onChange: (part: Partial<Ordering>) => void;
  onRemove: () => void;
}) {
  const { ordering, number, onChange } = props;
  return (
    <fieldset class="query-condition" aria-label={`Ordering ${number}`}>
      <span class="query-lead">{number === 1 ? 'ordered by' : 'then by'}</span>
      <input
        class="select mono-input"
        list="query-order-paths"
        aria-label={`Property or metadata path of ordering ${number}`}
        placeholder="createdAt or vehicle.speed"
        autocapitalize="none"
        spellcheck={false}
        value={ordering.path}
        onInput={(event) => onChange({ path: event.currentTarget.value.trim() })}
      />
      <Select
        label={`Direction of ordering ${number}`}
        value={ordering.direction}
        options={directions}
        onValue={(direction) => onChange({ direction })}
      />
      <RemovePart label={`Remove ordering ${number}`} title="Remove this ordering" onClick={props.onRemove} />
    </fieldset>
  );
}
