import { Icon } from '../ui/icon.tsx';

/** Adds a part to a query. */
export function AddPart(props: { label: string; disabled?: boolean; act: () => void }) {
  return (
    <button type="button" class="button button-small" disabled={props.disabled} onClick={props.act}>
      <Icon name="plus" />
      {props.label}
    </button>
  );
}

/** Removes a part of a query; `label` also says which. */
export function RemovePart(props: { label: string; title: string; act: () => void }) {
  return (
    <button
      type="button"
      class="button button-icon query-remove"
      aria-label={props.label}
      title={props.title}
      onClick={props.act}
    >
      <Icon name="cross" />
    </button>
  );
}
