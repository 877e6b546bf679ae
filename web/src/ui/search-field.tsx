import { Icon } from './icon.tsx';

/** A field to search a list by. */
export function SearchField(props: {
  label: string;
  /** Default: the label. */
  placeholder?: string;
  value: string;
  onValue: (value: string) => void;
}) {
  return (
    <search class="search">
      <Icon name="search" />
      <input
        type="search"
        aria-label={props.label}
        placeholder={props.placeholder ?? props.label}
        value={props.value}
        onInput={(event) => props.onValue(event.currentTarget.value)}
      />
    </search>
  );
}
