import { stateStyle } from '../node-state.ts';
import { Icon } from './icon.tsx';

/** A node state by sign, word and colour; with `count`, as one entry of a summary. */
export function StateBadge(props: { state: string; count?: number }) {
  const look = stateStyle(props.state);
  return (
    <span class={`badge state-${look.tone}`}>
      <Icon name={look.icon} />
      {props.count !== undefined && <strong>{props.count}</strong>}
      <span>{props.count === undefined ? look.label : look.label.toLowerCase()}</span>
    </span>
  );
}
