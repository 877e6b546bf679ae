/** The axis of the curves of a recording. Pure: tested without a browser. */
import type { DashboardSource } from '../../../client/types.ts';
import type { Curves } from './read.ts';

export function axisOfTimes({ kind, basis }: DashboardSource['time']): Curves['axis'] {
  if (kind === 'absolute') return { kind: 'time', name: 'time' };
  return basis === 'row-number' ? { kind: 'row', name: 'row' } : { kind: 'number', name: 'milliseconds' };
}
