/** The words and signs of a session's states. Colour is never the only sign. */
import type { SessionListRow } from '../../../client/types.ts';

interface StateStyle {
  readonly label: string;
  readonly tone: 'idle' | 'working' | 'failed' | 'done';
  readonly icon: 'circle' | 'spinner' | 'cross' | 'check';
}

export const stateStyles: Readonly<Record<SessionListRow['state'], StateStyle>> = {
  notStarted: { label: 'Not started', tone: 'idle', icon: 'circle' },
  running: { label: 'Running', tone: 'working', icon: 'spinner' },
  failed: { label: 'Failed', tone: 'failed', icon: 'cross' },
  done: { label: 'Done', tone: 'done', icon: 'check' },
};
