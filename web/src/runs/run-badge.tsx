import type { StateStyle } from '../node-state.ts';
import { Icon } from '../ui/icon.tsx';
import type { NodeRun } from './api.ts';

type RunState = NodeRun['state'];

const styles: Record<RunState, StateStyle> = {
  queued: { tone: 'waiting', label: 'Queued', icon: 'clock' },
  held: { tone: 'working', label: 'Running', icon: 'spinner' },
  waiting: { tone: 'waiting', label: 'Waits for its next attempt', icon: 'clock' },
  failed: { tone: 'failed', label: 'Failed', icon: 'cross' },
  cancelled: { tone: 'paused', label: 'Cancelled', icon: 'cross' },
  completed: { tone: 'done', label: 'Done', icon: 'check' },
  'no-output': { tone: 'done', label: 'Without output', icon: 'check' },
  suspended: { tone: 'paused', label: 'Suspended', icon: 'pause' },
};

export function runStyle(state: RunState): StateStyle {
  return styles[state] ?? { tone: 'idle', label: state, icon: 'circle' };
}

/** The state of a run by sign, word and colour. */
export function RunBadge({ state }: { state: RunState }) {
  const style = runStyle(state);
  return (
    <span class={`badge state-${style.tone}`}>
      <Icon name={style.icon} />
      <span>{style.label}</span>
    </span>
  );
}
