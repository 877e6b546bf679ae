import { useRef } from 'preact/hooks';
import type { NodeInstanceProgress, NodeOutput } from '../../api.ts';
import { type Resource, useResource } from '../../hooks.ts';
import { newestFirst, outputsOrNone } from '../output-parts.tsx';

const versionOf = ({ id, currentOutputId }: NodeInstanceProgress) => `${id}:${currentOutputId}`;

/** The outputs of all nodes of a session, newest first; those of a node are read again when it has a newer one. */
export function useSessionOutputs(nodes: readonly NodeInstanceProgress[]): Resource<readonly NodeOutput[]> {
  const full = nodes.filter(({ currentOutputId }) => currentOutputId !== null);
  const known = useRef<ReadonlyMap<string, readonly NodeOutput[]>>(new Map());
  const read = async (signal: AbortSignal) => {
    const lists = await Promise.all(
      full.map(async (node) => {
        const version = versionOf(node);
        return [version, known.current.get(version) ?? (await outputsOrNone(node.id, signal))] as const;
      }),
    );
    known.current = new Map(lists);
    return newestFirst(lists.flatMap(([, outputs]) => outputs));
  };
  return useResource('outputs', read, { version: full.map(versionOf).join(' ') });
}
