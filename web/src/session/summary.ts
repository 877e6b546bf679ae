/** How far a session is, from the states of its nodes. Pure: tested without a browser. */

import type { NodeInstanceProgress, SessionWindowEvent } from '../../../client/types.ts';
import { formatDateTime } from '../format.ts';

export interface SessionSummary {
  /** The state of a node that the session's badge shows. */
  readonly state: 'Failed' | 'Processing' | 'Suspended' | 'Succeeded' | 'NeverBegan';
  readonly done: number;
  readonly total: number;
  readonly failed: readonly NodeInstanceProgress[];
  readonly running: readonly NodeInstanceProgress[];
}

export function summaryOf(nodes: readonly NodeInstanceProgress[]): SessionSummary {
  const of = (...states: string[]) => nodes.filter(({ state }) => states.includes(state));
  const failed = of('Failed');
  const running = of('Processing', 'Pending');
  const done = of('Succeeded').length;
  const state =
    failed.length > 0
      ? 'Failed'
      : running.length > 0
        ? 'Processing'
        : of('Suspended').length > 0
          ? 'Suspended'
          : done > 0
            ? 'Succeeded'
            : 'NeverBegan';
  return { state, done, total: nodes.length, failed, running };
}

/** `3 of 6 done, 1 failed, 1 running, 1 waiting`. */
export function summaryWords({ done, total, failed, running }: SessionSummary): string {
  const parts = [`${done} of ${total} done`];
  if (failed.length > 0) parts.push(`${failed.length} failed`);
  const waiting = running.filter(({ state }) => state === 'Pending').length;
  if (running.length > waiting) parts.push(`${running.length - waiting} running`);
  if (waiting > 0) parts.push(`${waiting} waiting`);
  return parts.join(', ');
}

/** `Closed` `at 14 Mar 2026, 09:30: The exercise is over.`; a close may fall due later. */
export function closeWords(
  { closedAt, closeReason }: Pick<SessionWindowEvent, 'closedAt' | 'closeReason'>,
  nowMs: number,
): { readonly badge: string; readonly text: string } {
  const at = closedAt === null ? '' : `at ${formatDateTime(closedAt)}`;
  return {
    badge: closedAt !== null && Date.parse(closedAt) > nowMs ? 'Closes' : 'Closed',
    text: [at, closeReason ?? ''].filter((text) => text !== '').join(': '),
  };
}
