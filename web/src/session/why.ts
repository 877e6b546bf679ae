import { explainNode, type NodeInstanceProgress } from '../api.ts';
import { formatTimesIn } from '../format.ts';
import { useResource } from '../hooks.ts';
import { withoutCategory, withTitles } from '../names.ts';

/**
 * The reason for a node's state, and its runner's progress while it works; empty until it is read.
 * @param nodes all of the session
 * @param version another one reads it again
 */
export function useWhy(
  node: NodeInstanceProgress,
  nodes: readonly NodeInstanceProgress[],
  version: number | string,
): string {
  const why = useResource(String(node.id), (signal) => explainNode(node.id, signal), { version });
  const details = node.statusDetails;
  const names = nodes.map(({ name }) => name);
  const sentence =
    why.data === null
      ? ''
      : formatTimesIn(withTitles(why.data.sentence, names, why.data.facts.heldBy?.instanceId ?? null));
  // A sentence that contains the details is enough, as does that of a running node, where they may be newer.
  const repeats =
    why.data !== null &&
    (why.data.facts.heldBy !== null || why.data.sentence.includes(details.replace(/\.$/, '')));
  return withoutCategory([repeats ? '' : details, sentence].filter((part) => part !== '').join(' '));
}
