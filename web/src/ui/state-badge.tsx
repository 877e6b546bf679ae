import { stateStyle } from '../node-state.ts';
import { Icon } from './icon.tsx';

/** A node state by sign, word and colour. */
export function StateBadge({ state }: { state: string }) {
  const style = stateStyle(state);
  return (
    <span class={`badge state-${style.tone}`}>
      <Icon name={style.icon} />
      <span>{style.label}</span>
    </span>
  );
}
