/** Whether a claim would get a task of a node, in sentences for authors of runners. */
import { hasInputs, type NodeFacts, type OpenRunState, type RunReason, reasonToRun } from './run-plan.ts';

export interface RunPreviewFacts {
  readonly isFrozen: boolean;
  /** The node's run that is not done; null when it has none. */
  readonly run: { readonly state: OpenRunState; readonly dueAt: string | null } | null;
  readonly plan: Omit<NodeFacts, 'hasOpenRun'>;
  /** Names of the parents without an output. */
  readonly silentParents: readonly string[];
}

export interface RunPreview {
  /** A runner that claims now would get a task of the node. */
  readonly wouldRun: boolean;
  /** A sentence. */
  readonly why: string;
}

/** Whether a claim would get a task of the node now: for the authors of runners, who see neither leases nor other runners. */
export function previewRun({ isFrozen, run, plan, silentParents }: RunPreviewFacts): RunPreview {
  if (plan.isInput) return no('Input nodes receive uploads and get no tasks.');
  if (isFrozen) return no('The session is frozen.');
  switch (run?.state) {
    case 'held':
      return no('A runner holds its task.');
    case 'waiting':
      return no(`Its next attempt is due${run.dueAt === null ? '' : ` at ${run.dueAt}`}.`);
    case 'queued':
      return { wouldRun: true, why: 'A task is queued.' };
  }
  const reason = reasonToRun({ ...plan, hasOpenRun: false });
  if (reason !== undefined) return { wouldRun: true, why: dueReasons[reason] };
  if (!hasInputs(plan)) return no(`No output yet of: ${silentParents.join(', ')}.`);
  return no('There are no new inputs since its last run.');
}

const dueReasons: Readonly<Record<RunReason, string>> = {
  input: 'There are new inputs.',
  'follow-up': 'Its last run requested a follow-up.',
  reprocess: 'A reprocess is requested.',
};

function no(why: string): RunPreview {
  return { wouldRun: false, why };
}
