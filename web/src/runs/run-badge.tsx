import type { StateStyle } from '../states.ts';
import { Badge } from '../ui/state-badge.tsx';
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
  return <Badge {...runStyle(state)} />;
}
