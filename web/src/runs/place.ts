import type { NodeRun, NodeRunAttempt } from '../../../client/types.ts';
import { runnerTitle } from '../names.ts';
import { runnerOf } from './model.ts';

/** The runner that works or worked on an attempt; null where the platform itself did. */
export function placeOf(attempt: NodeRunAttempt, { runnerType, heldBy }: NodeRun): string | null {
  if (runnerType === 'system') return null;
  return runnerOf(attempt) ?? (heldBy === null ? null : runnerTitle(heldBy.instanceId));
}
