import { nodeStyle } from '../states.ts';
import { Icon, type IconName } from './icon.tsx';

/** A state by sign, word and colour. */
export function Badge(props: { tone: string; icon: IconName; label: string }) {
  return (
    <span class={`badge state-${props.tone}`}>
      <Icon name={props.icon} />
      <span>{props.label}</span>
    </span>
  );
}

/** The state of a node. */
export function StateBadge({ state }: { state: string }) {
  return <Badge {...nodeStyle(state)} />;
}
