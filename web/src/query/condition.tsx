import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks';
import { titleOf } from '../names.ts';
import { Suggestions } from '../session/metadata-fields.tsx';
import { sessionStyles } from '../states.ts';
import { Select } from '../ui/form.tsx';
import { RemovePart } from './buttons.tsx';
import type { FieldType } from './fields.ts';
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
  const fault = useId();
  const change = (part: Partial<Condition>) => props.onChange({ ...condition, ...part });
  const named = (what: string) => `${what} of condition ${number}`;
  return (
    <>
      <fieldset
        class={props.fault === null ? 'query-condition' : 'query-condition query-condition-wrong'}
        aria-label={`Condition ${number}`}
        {...(props.fault === null ? {} : { 'aria-describedby': fault })}
      >
        <FieldSelect {...props} label={named('Field')} />
        {field.type === 'metadata' && <MetadataPath {...props} label={named('Metadata path')} />}
        <Select
          label={named('Comparison')}
          value={condition.operator}
          options={operatorsOf(field).map((value) => ({ value, label: operatorLabel(value, field.type) }))}
          onValue={(operator) => change({ operator })}
        />
        {field.type === 'metadata' && !isBare(condition.operator) && (
          <ValueTypeSelect condition={condition} label={named('Type')} onChange={change} />
        )}
        {!isBare(condition.operator) && (
          <ValueInput {...props} type={field.type} label={named('Value')} onChange={change} />
        )}
        <RemovePart
          label={`Remove condition ${number}`}
          title="Remove this condition"
          onClick={props.onRemove}
        />
      </fieldset>
      {props.fault !== null && (
        <p class="query-fault" id={fault}>
          {props.fault}
        </p>
      )}
    </>
  );
}

function FieldSelect(props: {
  condition: Condition;
  label: string;
  focused: boolean;
  onChange: (condition: Condition) => void;
}) {
  const { condition } = props;
  const select = useRef<HTMLSelectElement>(null);
  useLayoutEffect(() => {
    if (props.focused) select.current?.focus();
  }, []);
  return (
    <select
      ref={select}
      class="select"
      aria-label={props.label}
      value={condition.path}
      onChange={(event) => props.onChange(withField(condition, fieldOf(event.currentTarget.value)))}
    >
      {[...fields, metadataField].map(({ path, label }) => (
        <option key={path} value={path}>
          {label}
        </option>
      ))}
    </select>
  );
}

function MetadataPath(props: {
  condition: Condition;
  label: string;
  world: QueryWorld;
  onChange: (condition: Condition) => void;
}) {
  const { condition } = props;
  const { keys } = props.world;
  const list = useId();
  const isTyped = useRef(false);
  useEffect(() => {
    // A path can be typed before the keys are there, from which the type of its values is taken.
    const late = withKey(condition, condition.key, keys);
    if (isTyped.current && late.valueType !== condition.valueType) props.onChange(late);
  }, [keys]);
  return (
    <>
      <input
        class="select mono-input"
        aria-label={props.label}
        placeholder="vehicle.speed"
        autocapitalize="none"
        spellcheck={false}
        list={list}
        autocomplete="off"
        value={condition.key}
        onInput={(event) => {
          isTyped.current = true;
          props.onChange(withKey(condition, event.currentTarget.value, keys));
        }}
      />
      <Suggestions id={list} values={keys.map(({ path }) => path)} />
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
    <Select
      class="query-type"
      label={props.label}
      value={props.condition.valueType}
      options={valueTypes}
      onValue={(valueType) =>
        props.onChange({ valueType, ...(valueType === 'truth' ? { text: 'true' } : {}) })
      }
    />
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
  const choices = choicesOf(condition, type, world);
  if (choices !== null) {
    return (
      <Select class="query-value" label={label} value={condition.text} options={choices} onValue={setText} />
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
        type={type === 'time' ? 'datetime-local' : 'text'}
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

/** The values of a condition that offers them; null where they are written. */
function choicesOf({ text, operator, valueType }: Condition, type: FieldType, world: QueryWorld) {
  if (type === 'project' || type === 'template') {
    const offered =
      type === 'project'
        ? world.projects.map(({ id, title }) => ({ value: String(id), label: title }))
        : world.templates.map(({ id, name }) => ({ value: String(id), label: titleOf(name) }));
    const isKnown = text === '' || offered.some(({ value }) => value === text);
    const first = isKnown ? [] : [{ value: text, label: `${type} ${text}` }];
    return [{ value: '', label: `choose a ${type}` }, ...first, ...offered];
  }
  if (type === 'state') {
    const states = Object.entries(sessionStyles).map(([value, state]) => ({ value, label: state.label }));
    return [{ value: '', label: 'choose a state' }, ...states];
  }
  if (type === 'metadata' && valueType === 'truth' && operator !== 'in') {
    return ['true', 'false'].map((value) => ({ value, label: value }));
  }
  return null;
}

function placeholderOf(type: FieldType, valueType: ValueType): string {
  if (type === 'owner') return 'me, or an account id';
  if (type === 'uuid') return '0198ee21-7d40-7c1a-9e55-2f6b8c0d3a71';
  if (type !== 'metadata') return '';
  return { text: '', number: '80', truth: '', json: '"night"' }[valueType];
}
