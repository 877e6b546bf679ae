/** Whether a node has a task for a runner now, in words for whoever wonders why it does not run (decisions 9: debug context). */
import { type NodeFacts, type RunReason, type RunState, runWanted } from './run-plan.ts';

export interface OutlookFacts {
  readonly isFrozen: boolean;
  /** The node's run that is not done; null when it has none. */
  readonly run: { readonly state: Exclude<RunState, 'done'>; readonly dueAt: string | null } | null;
  readonly plan: Omit<NodeFacts, 'hasOpenRun'>;
  /** Names of the parents without an output. */
  readonly silentParents: readonly string[];
}

export interface RunOutlook {
  /** A runner that claims now would get a task of the node. */
  readonly wouldRun: boolean;
  /** A sentence. */
  readonly why: string;
}

export function runOutlook({ isFrozen, run, plan, silentParents }: OutlookFacts): RunOutlook {
  if (plan.isInput) return no('Input nodes take uploads and get no tasks.');
  if (isFrozen) return no('The session is frozen.');
  switch (run?.state) {
    case 'held':
      return no('A runner holds its task.');
    case 'waiting':
      return no(`Its next attempt is due${run.dueAt === null ? '' : ` at ${run.dueAt}`}.`);
    case 'queued':
      return { wouldRun: true, why: 'A task is queued.' };
  }
  const reason = runWanted({ ...plan, hasOpenRun: false });
  if (reason !== undefined) return { wouldRun: true, why: reasons[reason] };
  const silent =
    plan.trigger === 'all' ? silentParents.length > 0 : silentParents.length === plan.parentPositions.length;
  if (silent) return no(`No output yet of: ${silentParents.join(', ')}.`);
  return no('Nothing is new since its last run.');
}

const reasons: Readonly<Record<RunReason, string>> = {
  input: 'There are new inputs.',
  'follow-up': 'Its last run asked for another one.',
  reprocess: 'It is to be processed again.',
};

function no(why: string): RunOutlook {
  return { wouldRun: false, why };
}
