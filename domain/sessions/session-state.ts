/** The state of a session as lists show it, and what they count of its nodes. */
import { type VisibleNodeState, visibleNodeState } from '../runs/node-state.ts';

/**
 * - `failed`: a node is Failed, also while others still run: it waits for a person.
 * - `running`: else a run is queued, held or waits.
 * - `notStarted`: nothing was ever published.
 * - `done`: else.
 */
export const sessionStates = ['notStarted', 'running', 'failed', 'done'] as const;
export type SessionState = (typeof sessionStates)[number];

/** Nodes by state; states that do not occur are left out. */
export type NodeCounts = Partial<Record<VisibleNodeState, number>>;

/** @param stored numbers of nodes by the code of their state, `Processing` for those whose run is held */
export function nodeCountsOf(stored: Readonly<Record<string, number>>): NodeCounts {
  const counts: NodeCounts = {};
  for (const [code, count] of Object.entries(stored)) {
    const state = code === 'held' ? visibleNodeState(0, true) : visibleNodeState(Number(code), false);
    counts[state] = (counts[state] ?? 0) + count;
  }
  return counts;
}
