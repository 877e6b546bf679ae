/**
 * States of a node instance, as the interface names them.
 *
 * NeverBegan -> Pending (a run is queued, waits for retry or is due) -> Processing (its run is held by a runner)
 * -> Succeeded | Failed | Suspended -> Pending again for new input or a reprocess.
 *
 * `Processing` is never stored: it is read from the held claim, so that a claim need not touch the node's row.
 */
export const nodeStateCodes = {
  NeverBegan: 0,
  Processing: 1,
  Failed: 2,
  Succeeded: 3,
  Suspended: 4,
  Pending: 5,
} as const;

export type NodeState = keyof typeof nodeStateCodes;

const nodeStates = Object.keys(nodeStateCodes) as readonly NodeState[];

/** What readers see: also `Unknown`, for a stored code that this version does not name. */
export const visibleNodeStates = [...nodeStates, 'Unknown'] as const;
export type VisibleNodeState = (typeof visibleNodeStates)[number];

const names = new Map<number, NodeState>(nodeStates.map((name) => [nodeStateCodes[name], name]));

/**
 * The state that readers see.
 * @param storedCode `node_instance.state`
 * @param runIsHeld whether the node's open run is held by a runner
 */
export function visibleNodeState(storedCode: number, runIsHeld: boolean): VisibleNodeState {
  return runIsHeld ? 'Processing' : (names.get(storedCode) ?? 'Unknown');
}

/** What its runner last said of a held run: `reading: row 5`; empty when it said nothing. */
export function heldDetails(phase: string | null, message: string | null): string {
  return [phase, message].filter((part) => part !== null && part !== '').join(': ');
}
