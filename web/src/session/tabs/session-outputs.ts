import type { NodeInstanceProgress, NodeOutput } from '../../api.ts';
import { type Resource, useResource, useSettled } from '../../hooks.ts';
import { outputsOrNone } from '../output-parts.tsx';

/** Changes come in bursts; one reading follows a burst. */
const settleMs = 500;

/** The outputs of all nodes of a session, newest first; read again when a node has a newer one. */
export function useSessionOutputs(nodes: readonly NodeInstanceProgress[]): Resource<readonly NodeOutput[]> {
  const full = nodes.filter(({ currentOutputId }) => currentOutputId !== null);
  const key = useSettled(full.map((node) => `${node.id}:${node.currentOutputId}`).join(' '), settleMs);
  return useResource(
    key,
    async (signal) => {
      const lists = await Promise.all(full.map(({ id }) => outputsOrNone(id, signal)));
      return lists.flat().sort((a, b) => b.createdAt.localeCompare(a.createdAt) || b.id - a.id);
    },
    { keepWhileLoading: true },
  );
}
