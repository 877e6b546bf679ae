/** Failed runs by the reason of their failure. Pure: tested without a browser. */
import type { NodeRun } from '../../../client/types.ts';
import { withoutCategory } from '../names.ts';

export interface ReasonGroup {
  /** The reason of its newest run. */
  readonly text: string;
  readonly newest: NodeRun;
  readonly runs: number;
  readonly sessions: number;
  /** Names of node templates. */
  readonly templates: readonly string[];
  readonly retryable: readonly NodeRun[];
}

/** Those with the most runs first. `Line 4 has no time.` and `Line 9 has no time.` are one reason: numbers do not tell them apart. */
export function groupedByReason(runs: readonly NodeRun[]): ReasonGroup[] {
  const groups = new Map<string, NodeRun[]>();
  for (const run of runs) {
    const key = run.statusDetails.replaceAll(/\d+/g, '0');
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [run]);
    else group.push(run);
  }
  return [...groups.values()]
    .map((group) => ({
      text: withoutCategory(group[0]!.statusDetails) || 'No reason was given.',
      newest: group[0]!,
      runs: group.length,
      sessions: new Set(group.map(({ sessionId }) => sessionId)).size,
      templates: [...new Set(group.map(({ nodeTemplate }) => nodeTemplate))],
      retryable: group.filter(({ retryable }) => retryable),
    }))
    .sort((a, b) => b.runs - a.runs);
}
