import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Action } from '../hooks.ts';
import { Icon } from './icon.tsx';
import { Notice } from './notice.tsx';

/** A form with the platform's own message when it refuses, and what ends it. */
export function Form(props: {
  action: Action;
  /** Names the deed: `Create token`. */
  verb: string;
  onSubmit: () => void;
  onCancel?: () => void;
  children: ComponentChildren;
}) {
  const { action } = props;
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        props.onSubmit();
      }}
    >
      {props.children}
      {action.problem !== null && <Notice tone="error">{action.problem}</Notice>}
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

export function TextField(props: {
  label: string;
  hint?: string;
  type?: 'text' | 'email' | 'number' | 'password' | 'datetime-local';
  required?: boolean;
  /** Of a number. */
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
        // The types tie each kind of input to roles of its own; none is given here.
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
  /** Written for machines: letters of one width. */
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

/** A choice by itself; `label` is for those who do not see what stands beside it. */
export function Select<Value extends string>(props: {
  label?: string;
  class?: string;
  value: Value;
  options: readonly { value: Value; label: string }[];
  onValue: (value: Value) => void;
}) {
  return (
    <select
      class={props.class === undefined ? 'select' : `select ${props.class}`}
      aria-label={props.label}
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
  value: Value;
  options: readonly { value: Value; label: string }[];
  onValue: (value: Value) => void;
}) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is the select.
    <label class="field">
      <span>{props.label}</span>
      <Select value={props.value} options={props.options} onValue={props.onValue} />
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

/** Text that is there to be copied. A click into it chooses all of it, where a page may not write the clipboard. */
export function CopyText(props: { label: string; text: string }) {
  const [said, setSaid] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(props.text);
      setSaid('Copied.');
    } catch {
      setSaid('The browser does not allow copying here. Click into the text and copy it by hand.');
    }
  };
  return (
    <div class="secret">
      <div class="copy">
        <textarea
          class="copy-text"
          aria-label={props.label}
          readOnly
          rows={props.text.length > 36 ? 2 : 1}
          value={props.text}
          onFocus={(event) => event.currentTarget.select()}
        />
        <button type="button" class="button" onClick={() => void copy()}>
          <Icon name="copy" />
          Copy
        </button>
      </div>
      <p class="faint" role="status">
        {said}
      </p>
    </div>
  );
}
