import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { type Action, useAction } from '../hooks.ts';
import { Dialog } from './dialog.tsx';
import { Icon } from './icon.tsx';
import { Notice } from './notice.tsx';

/** The labels of fields that a refusal names first, by their names in the interface. */
type FieldNames = Readonly<Record<string, string>>;

/** A form with the platform's message when it refuses, and its buttons. */
export function Form(props: {
  action: Action;
  /** Names the action: `Create token`. */
  verb: string;
  names?: FieldNames;
  onSubmit: () => void;
  onCancel?: () => void;
  children: ComponentChildren;
}) {
  const { action, names = {} } = props;
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        props.onSubmit();
      }}
    >
      {props.children}
      {action.problem !== null && (
        <Notice tone="error">{action.problem.replace(/^\w+/, (name) => names[name] ?? name)}</Notice>
      )}
      <div class="form-end">
        {props.onCancel && (
          <button type="button" class="button" onClick={props.onCancel}>
            Cancel
          </button>
        )}
        <button type="submit" class="button button-primary" aria-disabled={action.busy}>
          {props.verb}
        </button>
      </div>
    </form>
  );
}

/** A window with a form. When the platform refuses, it stays open with the reason; `save` closes it. */
export function FormDialog(props: {
  title: string;
  /** Names the action: `Create token`. */
  verb: string;
  names?: FieldNames;
  save: () => Promise<unknown>;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const action = useAction();
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <Form
        action={action}
        verb={props.verb}
        names={props.names ?? {}}
        onSubmit={() => void action.run(props.save)}
        onCancel={props.onClose}
      >
        {props.children}
      </Form>
    </Dialog>
  );
}

export function TextField(props: {
  label: string;
  hint?: string | undefined;
  type?: 'text' | 'email' | 'number' | 'password' | 'datetime-local' | 'time';
  required?: boolean;
  /** The least number. */
  min?: number;
  max?: number;
  autocomplete?: 'off' | 'current-password' | 'new-password';
  value: string;
  onValue: (value: string) => void;
}) {
  return (
    <label class="field">
      <span>{props.label}</span>
      <input
        // The types allow only certain roles for each kind of input; none is set here.
        type={(props.type ?? 'text') as 'text'}
        required={props.required === true}
        min={props.min}
        max={props.max}
        autocomplete={props.autocomplete ?? 'off'}
        value={props.value}
        onInput={(event) => props.onValue(event.currentTarget.value)}
      />
      {props.hint !== undefined && <span class="field-hint">{props.hint}</span>}
    </label>
  );
}

export function AreaField(props: {
  label: string;
  hint?: string;
  rows?: number;
  /** Text for machines, in a monospaced font. */
  code?: boolean;
  value: string;
  onValue: (value: string) => void;
}) {
  return (
    <label class="field">
      <span>{props.label}</span>
      <textarea
        rows={props.rows ?? 4}
        class={props.code === true ? 'code' : undefined}
        spellcheck={props.code !== true}
        value={props.value}
        onInput={(event) => props.onValue(event.currentTarget.value)}
      />
      {props.hint !== undefined && <span class="field-hint">{props.hint}</span>}
    </label>
  );
}

/** A select without a visible label; `label` is for screen readers. */
export function Select<Value extends string>(props: {
  label?: string;
  class?: string;
  disabled?: boolean;
  /** The form is not sent without a choice; an empty value is none. */
  required?: boolean | undefined;
  invalid?: boolean;
  value: Value;
  options: readonly { value: Value; label: string }[];
  onValue: (value: Value) => void;
}) {
  return (
    <select
      class={props.class === undefined ? 'select' : `select ${props.class}`}
      aria-label={props.label}
      disabled={props.disabled}
      required={props.required}
      aria-invalid={props.invalid}
      value={props.value}
      onChange={(event) => props.onValue(event.currentTarget.value as Value)}
    >
      {props.options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  );
}

export function SelectField<Value extends string>(props: {
  label: string;
  hint?: string;
  required?: boolean;
  value: Value;
  options: readonly { value: Value; label: string }[];
  onValue: (value: Value) => void;
}) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is the select.
    <label class="field">
      <span>{props.label}</span>
      <Select required={props.required} value={props.value} options={props.options} onValue={props.onValue} />
      {props.hint !== undefined && <span class="field-hint">{props.hint}</span>}
    </label>
  );
}

export function CheckField(props: {
  label: string;
  checked: boolean;
  onChecked: (checked: boolean) => void;
}) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={props.checked}
        onChange={(event) => props.onChecked(event.currentTarget.checked)}
      />
      <span>{props.label}</span>
    </label>
  );
}

/** Text to copy. A click selects all of it, for pages that may not write the clipboard. */
export function CopyText(props: { label: string; text: string }) {
  const [message, setMessage] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(props.text);
      setMessage('Copied.');
    } catch {
      setMessage('The browser does not allow copying. Select the text and copy it.');
    }
  };
  return (
    <div class="secret">
      <div class="copy">
        <textarea
          class="copy-text"
          aria-label={props.label}
          readOnly
          rows={Math.max(props.text.length > 36 ? 2 : 1, props.text.split('\n').length)}
          value={props.text}
          onFocus={(event) => event.currentTarget.select()}
        />
        <button type="button" class="button" onClick={() => void copy()}>
          <Icon name="copy" />
          Copy
        </button>
      </div>
      <p class="faint" role="status">
        {message}
      </p>
    </div>
  );
}
