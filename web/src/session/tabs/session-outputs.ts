import type { NodeInstanceProgress, NodeOutput } from '../../api.ts';
import { type Resource, useResource, useSettled } from '../../hooks.ts';
import { outputsOfNodes } from '../output-parts.tsx';

/** Changes come in bursts; one reading follows a burst. */
const settleMs = 500;

/** The outputs of all nodes of a session, newest first; read again when a node has a newer one. */
export function useSessionOutputs(nodes: readonly NodeInstanceProgress[]): Resource<readonly NodeOutput[]> {
  const full = nodes.filter(({ currentOutputId }) => currentOutputId !== null);
  const key = useSettled(full.map((node) => `${node.id}:${node.currentOutputId}`).join(' '), settleMs);
  return useResource(key, (signal) => outputsOfNodes(full, signal), { keepWhileLoading: true });
}
