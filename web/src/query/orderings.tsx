import { Icon } from '../ui/icon.tsx';
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
        <fieldset class="query-condition" key={index} aria-label={`Ordering ${index + 1}`}>
          <span class="query-lead">{index === 0 ? 'ordered by' : 'then by'}</span>
          <input
            class="select mono-input"
            list="query-order-paths"
            aria-label={`Property or metadata path of ordering ${index + 1}`}
            placeholder="createdAt or vehicle.speed"
            autocapitalize="none"
            spellcheck={false}
            value={ordering.path}
            onInput={(event) => change(index, { path: event.currentTarget.value.trim() })}
          />
          <select
            class="select"
            aria-label={`Direction of ordering ${index + 1}`}
            value={ordering.direction}
            onChange={(event) =>
              change(index, { direction: event.currentTarget.value === 'desc' ? 'desc' : 'asc' })
            }
          >
            <option value="asc">lowest first</option>
            <option value="desc">highest first</option>
          </select>
          <button
            type="button"
            class="button button-icon query-remove"
            aria-label={`Remove ordering ${index + 1}`}
            title="Remove this ordering"
            onClick={() => props.onChange(orderBy.filter((_item, at) => at !== index))}
          >
            <Icon name="cross" />
          </button>
        </fieldset>
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
          <button
            type="button"
            class="button button-small"
            onClick={() => props.onChange([...orderBy, { path: 'createdAt', direction: 'desc' }])}
          >
            <Icon name="plus" />
            Add order
          </button>
          {orderBy.length === 0 && <span class="faint">Default: newest first.</span>}
        </div>
      )}
    </fieldset>
  );
}
