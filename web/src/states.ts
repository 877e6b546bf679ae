/** The words and signs of states. Colour is never the only sign: each state has its own word and icon too. */
import type { SessionListRow } from '../../client/types.ts';

export interface StateStyle {
  /** The suffix of the class name `state-…` and of the colour variables of `tokens.css`. */
  tone: 'idle' | 'waiting' | 'working' | 'done' | 'failed' | 'paused';
  label: string;
  /** Listed here, because models that are tested without a browser import no component. */
  icon: 'circle' | 'clock' | 'spinner' | 'check' | 'cross' | 'pause';
}

const nodeStyles: Record<string, StateStyle> = {
  NeverBegan: { tone: 'idle', label: 'Not started', icon: 'circle' },
  Pending: { tone: 'waiting', label: 'Waiting', icon: 'clock' },
  Processing: { tone: 'working', label: 'Running', icon: 'spinner' },
  Succeeded: { tone: 'done', label: 'Done', icon: 'check' },
  Failed: { tone: 'failed', label: 'Failed', icon: 'cross' },
  Suspended: { tone: 'paused', label: 'Suspended', icon: 'pause' },
};

export function nodeStyle(state: string): StateStyle {
  return nodeStyles[state] ?? { tone: 'idle', label: 'Unknown', icon: 'circle' };
}

/** True while the node continues without help, so that reading it again is useful. */
export function isUnderWay(state: string): boolean {
  return state === 'Pending' || state === 'Processing';
}

export const sessionStyles: Readonly<Record<SessionListRow['state'], StateStyle>> = {
  notStarted: { label: 'Not started', tone: 'idle', icon: 'circle' },
  running: { label: 'Running', tone: 'working', icon: 'spinner' },
  failed: { label: 'Failed', tone: 'failed', icon: 'cross' },
  done: { label: 'Done', tone: 'done', icon: 'check' },
};
