import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

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

/** The button that adds a part to what a person composes: a condition, a column. */
export function AddPart(props: { label: string; disabled?: boolean; onClick: () => void }) {
  return (
    <button type="button" class="button button-small" disabled={props.disabled} onClick={props.onClick}>
      <Icon name="plus" />
      {props.label}
    </button>
  );
}

/** A button that shows a sign alone. */
export function IconButton(props: {
  icon: IconName;
  /** For screen readers; it also says which. */
  label: string;
  /** Default: the label. */
  title?: string;
  /** `tool`: of a toolbar, with the border of its other buttons. */
  kind?: 'plain' | 'tool';
  /** A further class. */
  class?: string;
  disabled?: boolean;
  onClick: () => void;
}) {
  const shape = props.kind === 'tool' ? 'button-small button-tool' : 'button-icon';
  return (
    <button
      type="button"
      class={`button ${shape}${props.class === undefined ? '' : ` ${props.class}`}`}
      aria-label={props.label}
      title={props.title ?? props.label}
      disabled={props.disabled}
      onClick={props.onClick}
    >
      <Icon name={props.icon} />
    </button>
  );
}

/** In a form for something that is there: to the question whether it is deleted. */
export function DeleteButton(props: { what: string; onClick: () => void }) {
  return (
    <button type="button" class="button button-small button-danger-quiet" onClick={props.onClick}>
      <Icon name="bin" />
      Delete {props.what}
    </button>
  );
}
