import type { ComponentChildren } from 'preact';
import { Icon } from './icon.tsx';

/** The button of a page that makes a new one of what it lists. */
export function AddButton(props: { disabled?: boolean; onClick: () => void; children: ComponentChildren }) {
  return (
    <button type="button" class="button button-primary" disabled={props.disabled} onClick={props.onClick}>
      <Icon name="plus" />
      {props.children}
    </button>
  );
}

/** A button of a row or a card. */
export function RowButton(props: {
  /** For screen readers: the action with what it acts on, for example `Edit Monza`. */
  label: string;
  title?: string;
  disabled?: boolean;
  onClick: () => void;
  children: ComponentChildren;
}) {
  return (
    <button
      type="button"
      class="button button-small"
      disabled={props.disabled}
      aria-label={props.label}
      title={props.title}
      onClick={props.onClick}
    >
      {props.children}
    </button>
  );
}
