import type { IconName } from './ui/icon.tsx';

/** How a node's state looks and reads. Colour never stands alone: each has its own word and sign as well. */
export interface StateStyle {
  /** Ends the class name `state-…` and the colour variables of `tokens.css`. */
  tone: 'idle' | 'waiting' | 'working' | 'done' | 'failed' | 'paused';
  label: string;
  icon: IconName;
}

const styles: Record<string, StateStyle> = {
  NeverBegan: { tone: 'idle', label: 'Never began', icon: 'circle' },
  Pending: { tone: 'waiting', label: 'Pending', icon: 'clock' },
  Processing: { tone: 'working', label: 'Processing', icon: 'spinner' },
  Succeeded: { tone: 'done', label: 'Succeeded', icon: 'check' },
  Failed: { tone: 'failed', label: 'Failed', icon: 'cross' },
  Suspended: { tone: 'paused', label: 'Suspended', icon: 'pause' },
};

/** The states in the order in which a summary names them. */
export const stateOrder = [
  'Failed',
  'Suspended',
  'Processing',
  'Pending',
  'Succeeded',
  'NeverBegan',
] as const;

export function stateStyle(state: string): StateStyle {
  return styles[state] ?? { tone: 'idle', label: 'Unknown', icon: 'circle' };
}

/** True while the node will go on by itself, so that it is worth looking again. */
export function isUnderWay(state: string): boolean {
  return state === 'Pending' || state === 'Processing';
}
