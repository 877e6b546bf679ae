import { stateStyle } from '../node-state.ts';
import { Icon } from './icon.tsx';

/** A node state by sign, word and colour; with `count`, as one entry of a summary. */
export function StateBadge(props: { state: string; count?: number }) {
  const style = stateStyle(props.state);
  return (
    <span class={`badge state-${style.tone}`}>
      <Icon name={style.icon} />
      {props.count !== undefined && <strong>{props.count}</strong>}
      <span>{props.count === undefined ? style.label : style.label.toLowerCase()}</span>
    </span>
  );
}
