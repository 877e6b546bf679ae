import { Select } from '../ui/form.tsx';
import { type Draft, type Field, keyOf, type Leaf } from './schema-form.ts';

/** The fields of a configuration, groups within groups. */
export function SchemaFields(props: {
  fields: readonly Field[];
  draft: Draft;
  /** By the key of the field. */
  faults: Readonly<Record<string, string>>;
  disabled: boolean;
  change: (key: string, text: string) => void;
}) {
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

function LeafField(props: {
  field: Leaf;
  draft: Draft;
  faults: Readonly<Record<string, string>>;
  disabled: boolean;
  change: (key: string, text: string) => void;
}) {
  const { field, disabled } = props;
  const key = keyOf(field.path);
  const text = props.draft[key] ?? '';
  const fault = props.faults[key];
  const onInput = (event: { currentTarget: { value: string } }) =>
    props.change(key, event.currentTarget.value);
  const invalid = fault !== undefined;
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is one of these.
    <label class="field">
      <span>
        {field.label}
        {field.required && <span aria-hidden="true"> *</span>}
      </span>
      {field.kind === 'json' ? (
        <textarea
          class="code"
          rows={Math.min(12, text.split('\n').length + 1)}
          value={text}
          disabled={disabled}
          aria-invalid={invalid}
          spellcheck={false}
          onInput={onInput}
        />
      ) : field.kind === 'choice' ? (
        <Select
          value={text}
          options={[
            ...(text === '' || !field.required ? [{ value: '', label: 'Not set' }] : []),
            ...field.options,
          ]}
          disabled={disabled}
          onValue={(value) => props.change(key, value)}
        />
      ) : (
        <input
          type="text"
          inputMode={field.kind === 'text' ? 'text' : 'decimal'}
          autocomplete="off"
          value={text}
          disabled={disabled}
          aria-invalid={invalid}
          onInput={onInput}
        />
      )}
      {invalid && <span class="field-fault">{fault}</span>}
      {field.hint !== '' && <span class="field-hint">{field.hint}</span>}
    </label>
  );
}
