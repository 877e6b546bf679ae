import type { IconName } from './ui/icon.tsx';

/**
 * The look and the words of a node's states. Colour is never the only sign: each state has its own word and icon too.
 */
export interface StateStyle {
  /** The suffix of the class name `state-…` and of the colour variables of `tokens.css`. */
  tone: 'idle' | 'waiting' | 'working' | 'done' | 'failed' | 'paused';
  label: string;
  icon: IconName;
}

const styles: Record<string, StateStyle> = {
  NeverBegan: { tone: 'idle', label: 'Not started', icon: 'circle' },
  Pending: { tone: 'waiting', label: 'Waiting', icon: 'clock' },
  Processing: { tone: 'working', label: 'Running', icon: 'spinner' },
  Succeeded: { tone: 'done', label: 'Done', icon: 'check' },
  Failed: { tone: 'failed', label: 'Failed', icon: 'cross' },
  Suspended: { tone: 'paused', label: 'Suspended', icon: 'pause' },
};

export function stateStyle(state: string): StateStyle {
  return styles[state] ?? { tone: 'idle', label: 'Unknown', icon: 'circle' };
}

/** True while the node continues without help, so that reading it again is useful. */
export function isUnderWay(state: string): boolean {
  return state === 'Pending' || state === 'Processing';
}
