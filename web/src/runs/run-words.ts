/** Words of a run's own page. Pure: tested without a browser. Apart from the model, which the page of a session loads too. */
import type { NodeRun, NodeRunAttempt } from '../../../client/types.ts';
import { runnerTitle } from '../names.ts';
import { runnerOf } from './model.ts';

/** The runner that works or worked on an attempt; null where the platform itself did. */
export function outsideRunnerOf(attempt: NodeRunAttempt, { runnerType, heldBy }: NodeRun): string | null {
  if (runnerType === 'system') return null;
  return runnerOf(attempt) ?? (heldBy === null ? null : runnerTitle(heldBy.instanceId));
}

/** The name of a file that a run wrote: a dashboard is called so, as among the files of its session. */
export const writtenName = ({ nodeTemplate }: Pick<NodeRun, 'nodeTemplate'>, fileName: string | null) =>
  fileName ?? (nodeTemplate === 'system-next-dimension' ? 'Dashboard' : null);
