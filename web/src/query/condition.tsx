import { useEffect, useId, useRef } from 'preact/hooks';
import { Suggestions } from '../session/metadata-fields.tsx';
import { stateStyles } from '../sessions/list-model.ts';
import { Select } from '../ui/form.tsx';
import { Icon } from '../ui/icon.tsx';
import type { FieldType, Operator } from './fields.ts';
import { fieldOf, fields, isBare, metadataField, operatorLabel, operatorsOf } from './fields.ts';
import type { Condition, QueryWorld, ValueType } from './model.ts';
import { withField, withKey } from './model.ts';

/** One condition: field, operator, value. */
export function ConditionRow(props: {
  condition: Condition;
  number: number;
  world: QueryWorld;
  fault: string | null;
  /** Takes the focus: the condition was just added. */
  focused: boolean;
  onChange: (condition: Condition) => void;
  onRemove: () => void;
}) {
  const { condition, number } = props;
  const field = fieldOf(condition.path);
  const first = useRef<HTMLSelectElement>(null);
  const fault = useId();
  useEffect(() => {
    if (props.focused) first.current?.focus();
  }, []);
  const change = (part: Partial<Condition>) => props.onChange({ ...condition, ...part });
  const named = (what: string) => `${what} of condition ${number}`;
  return (
    <>
      <fieldset
        class={props.fault === null ? 'query-condition' : 'query-condition query-condition-wrong'}
        aria-label={`Condition ${number}`}
        {...(props.fault === null ? {} : { 'aria-describedby': fault })}
      >
        <select
          ref={first}
          class="select"
          aria-label={named('Field')}
          value={condition.path}
          onChange={(event) => props.onChange(withField(condition, fieldOf(event.currentTarget.value)))}
        >
          {[...fields, metadataField].map(({ path, label }) => (
            <option key={path} value={path}>
              {label}
            </option>
          ))}
        </select>
        {field.type === 'metadata' && (
          <input
            class="select mono-input"
            aria-label={named('Metadata path')}
            placeholder="vehicle.speed"
            autocapitalize="none"
            spellcheck={false}
            list={`${fault}-keys`}
            autocomplete="off"
            value={condition.key}
            onInput={(event) =>
              props.onChange(withKey(condition, event.currentTarget.value, props.world.keys))
            }
          />
        )}
        {field.type === 'metadata' && (
          <Suggestions id={`${fault}-keys`} values={props.world.keys.map(({ path }) => path)} />
        )}
        <select
          class="select"
          aria-label={named('Comparison')}
          value={condition.operator}
          onChange={(event) => change({ operator: event.currentTarget.value as Operator })}
        >
          {operatorsOf(field).map((operator) => (
            <option key={operator} value={operator}>
              {operatorLabel(operator, field.type)}
            </option>
          ))}
        </select>
        {field.type === 'metadata' && !isBare(condition.operator) && (
          <ValueTypeSelect condition={condition} label={named('Type')} onChange={change} />
        )}
        {!isBare(condition.operator) && (
          <ValueInput {...props} type={field.type} label={named('Value')} onChange={change} />
        )}
        <button
          type="button"
          class="button button-icon query-remove"
          aria-label={`Remove condition ${number}`}
          title="Remove this condition"
          onClick={props.onRemove}
        >
          <Icon name="cross" />
        </button>
      </fieldset>
      {props.fault !== null && (
        <p class="query-fault" id={fault}>
          {props.fault}
        </p>
      )}
    </>
  );
}

const valueTypes: { value: ValueType; label: string }[] = [
  { value: 'text', label: 'text' },
  { value: 'number', label: 'number' },
  { value: 'truth', label: 'true or false' },
  { value: 'json', label: 'JSON' },
];

function ValueTypeSelect(props: {
  condition: Condition;
  label: string;
  onChange: (part: Partial<Condition>) => void;
}) {
  return (
    <select
      class="select query-type"
      aria-label={props.label}
      value={props.condition.valueType}
      onChange={(event) => {
        const valueType = event.currentTarget.value as ValueType;
        props.onChange({ valueType, ...(valueType === 'truth' ? { text: 'true' } : {}) });
      }}
    >
      {valueTypes.map(({ value, label }) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  );
}

function ValueInput(props: {
  condition: Condition;
  world: QueryWorld;
  type: FieldType;
  label: string;
  onChange: (part: Partial<Condition>) => void;
}) {
  const { condition, type, label, world } = props;
  const list = useId();
  const setText = (text: string) => props.onChange({ text });
  if (type === 'project' || type === 'template') {
    const offered =
      type === 'project'
        ? world.projects.map(({ id, title }) => ({ value: String(id), label: title }))
        : world.templates.map(({ id, name }) => ({ value: String(id), label: name }));
    const isKnown = condition.text === '' || offered.some(({ value }) => value === condition.text);
    const first = isKnown ? [] : [{ value: condition.text, label: `${type} ${condition.text}` }];
    return (
      <Select
        class="query-value"
        label={label}
        value={condition.text}
        options={[{ value: '', label: `choose a ${type}` }, ...first, ...offered]}
        onValue={setText}
      />
    );
  }
  if (type === 'state') {
    const options = Object.entries(stateStyles).map(([value, state]) => ({ value, label: state.label }));
    const choose = { value: '', label: 'choose a state' };
    return (
      <Select
        class="query-value"
        label={label}
        value={condition.text}
        options={[choose, ...options]}
        onValue={setText}
      />
    );
  }
  if (type === 'metadata' && condition.valueType === 'truth' && condition.operator !== 'in') {
    const options = ['true', 'false'].map((value) => ({ value, label: value }));
    return (
      <Select class="query-value" label={label} value={condition.text} options={options} onValue={setText} />
    );
  }
  if (type === 'metadata' && condition.operator === 'in' && condition.valueType !== 'json') {
    return (
      <textarea
        class="select query-list"
        aria-label={`${label}, one on each line`}
        placeholder="one value on each line"
        rows={2}
        value={condition.text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    );
  }
  const samples = type === 'metadata' ? world.keys.find(({ path }) => path === condition.key)?.samples : [];
  return (
    <>
      <Suggestions id={list} values={samples ?? []} />
      <input
        list={list}
        autocomplete="off"
        class="select query-value"
        // The types allow only certain roles for each kind of input; none is set here.
        type={(type === 'time' ? 'datetime-local' : 'text') as 'text'}
        {...(type === 'time' ? { step: 1 } : {})}
        aria-label={label}
        placeholder={placeholderOf(type, condition.valueType)}
        spellcheck={false}
        value={condition.text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </>
  );
}

function placeholderOf(type: FieldType, valueType: ValueType): string {
  if (type === 'owner') return 'me, or an account id';
  if (type === 'uuid') return '0198ee21-7d40-7c1a-9e55-2f6b8c0d3a71';
  if (type !== 'metadata') return '';
  return { text: '', number: '80', truth: '', json: '"night"' }[valueType];
}
