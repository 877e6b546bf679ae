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

const names = new Map<number, NodeState>(
  Object.entries(nodeStateCodes).map(([name, code]) => [code, name as NodeState]),
);

/** The name of a stored code; `Unknown` for one that this version does not name. */
function nodeStateName(code: number): NodeState | 'Unknown' {
  return names.get(code) ?? 'Unknown';
}

/**
 * The state that readers see.
 * @param storedCode `node_instance.state`
 * @param runIsHeld whether the node's open run is held by a runner
 */
export function visibleNodeState(storedCode: number, runIsHeld: boolean): NodeState | 'Unknown' {
  return runIsHeld ? 'Processing' : nodeStateName(storedCode);
}
