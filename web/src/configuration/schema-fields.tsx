import { Select } from '../ui/form.tsx';
import { type Draft, type Field, keyOf, type Leaf } from './schema-form.ts';

interface Props {
  draft: Draft;
  /** By the key of the field. */
  faults: Readonly<Record<string, string>>;
  disabled: boolean;
  change: (key: string, text: string) => void;
}

/** The fields of a configuration, groups within groups. */
export function SchemaFields(props: Props & { fields: readonly Field[] }) {
  return (
    <>
      {props.fields.map((field) =>
        field.kind === 'group' ? (
          <fieldset key={keyOf(field.path)} class="schema-group">
            <legend>{field.label}</legend>
            {field.hint !== '' && <p class="faint">{field.hint}</p>}
            <SchemaFields {...props} fields={field.fields} />
          </fieldset>
        ) : (
          <LeafField key={keyOf(field.path)} {...props} field={field} />
        ),
      )}
    </>
  );
}

function LeafField(props: Props & { field: Leaf }) {
  const { field } = props;
  const key = keyOf(field.path);
  const fault = props.faults[key];
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is that of the leaf.
    <label class="field">
      <span>
        {field.label}
        {field.required && <span aria-hidden="true"> *</span>}
      </span>
      <LeafControl
        field={field}
        text={props.draft[key] ?? ''}
        disabled={props.disabled}
        invalid={fault !== undefined}
        onText={(text) => props.change(key, text)}
      />
      {fault !== undefined && <span class="field-fault">{fault}</span>}
      {field.hint !== '' && <span class="field-hint">{field.hint}</span>}
    </label>
  );
}

function LeafControl(props: {
  field: Leaf;
  text: string;
  disabled: boolean;
  invalid: boolean;
  onText: (text: string) => void;
}) {
  const { field, text, disabled, onText } = props;
  if (field.kind === 'choice') {
    const notSet = text === '' || !field.required ? [{ value: '', label: 'Not set' }] : [];
    return (
      <Select
        value={text}
        options={[...notSet, ...field.options]}
        disabled={disabled}
        invalid={props.invalid}
        onValue={onText}
      />
    );
  }
  const common = {
    value: text,
    disabled,
    'aria-required': field.required,
    'aria-invalid': props.invalid,
    onInput: (event: { currentTarget: { value: string } }) => onText(event.currentTarget.value),
  };
  if (field.kind === 'json')
    return (
      <textarea
        class="code"
        rows={Math.min(12, text.split('\n').length + 1)}
        spellcheck={false}
        {...common}
      />
    );
  const inputMode = field.kind === 'text' ? 'text' : 'decimal';
  return <input type="text" inputMode={inputMode} autocomplete="off" {...common} />;
}
