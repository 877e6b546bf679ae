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

/** The reasons with the most runs first. Texts that differ only in numbers are one reason: `Line 4 has no time.`, `Line 9 has no time.` */
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
