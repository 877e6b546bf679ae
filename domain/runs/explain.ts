/**
 * Why a node is not running, or no longer running: for operators by `explainNode`, for authors of runners by
 * `previewRun`.
 */
import type { VisibleNodeState } from './node-state.ts';
import { type NodeFacts, type OpenRunState, type RunReason, runWanted } from './run-plan.ts';

/** Why a node does not run, as codes for programs. */
export const explained = [
  'held',
  'frozen',
  'waits-for-retry',
  'no-runner',
  'runners-drained',
  'queued',
  'waits-for-upload',
  'uploads-queued',
  'failed',
  'suspended',
  'waits-for-parents',
  'up-to-date',
  'being-planned',
] as const;
type Explained = (typeof explained)[number];

interface ExplainedParent {
  readonly nodeInstanceId: number;
  readonly name: string;
  readonly state: VisibleNodeState;
  readonly hasOutput: boolean;
  /** It has published something that the node has not consumed. */
  readonly isNews: boolean;
}

/** What is known of a node. Times are of the database's clock. */
export interface ExplainFacts {
  readonly now: Date;
  readonly isInput: boolean;
  readonly trigger: 'all' | 'any';
  readonly state: VisibleNodeState;
  readonly statusDetails: string;
  readonly lastProcessed: Date | null;
  readonly frozenAt: Date | null;
  readonly parents: readonly ExplainedParent[];
  /** Uploads to this node that were acknowledged and are not published yet. */
  readonly queuedUploads: number;
  /** The run that is not done. */
  readonly openRun: {
    readonly id: string;
    readonly state: OpenRunState;
    readonly attempt: number;
    readonly maxAttempts: number;
    readonly reason: string;
    readonly queuedAt: Date;
    readonly dueAt: Date | null;
    readonly cancelRequested: boolean;
    /** Tasks of the same node template that are handed out before it; counted to 1,000. */
    readonly tasksAhead: number;
  } | null;
  readonly heldBy: {
    readonly instanceId: string;
    readonly leaseExpiresAt: Date;
  } | null;
  readonly lastRun: {
    readonly id: string;
    readonly outcome: string;
    readonly statusDetails: string;
    readonly attempt: number;
    readonly maxAttempts: number;
    readonly endedAt: Date | null;
  } | null;
  /**
   * Runners that may claim its tasks, without those that claim only for other node templates. Null where the platform's
   * own workers run it.
   */
  readonly runners: {
    readonly runnerType: string;
    readonly lastSeenAt: Date | null;
    /** Those that are there, drained or not. */
    readonly recent: number;
    /** Of those that are there and not drained. */
    readonly recentBusy: number;
    readonly recentDrained: number;
  } | null;
}

export interface Explanation {
  readonly why: Explained;
  readonly sentence: string;
}

export function explainNode(facts: ExplainFacts): Explanation {
  return facts.openRun === null ? explainIdle(facts) : explainOpen(facts, facts.openRun);
}

type OpenRun = NonNullable<ExplainFacts['openRun']>;

function explainOpen(facts: ExplainFacts, run: OpenRun): Explanation {
  if (run.state === 'held' && facts.heldBy !== null) return explainHeld(facts, run, facts.heldBy);
  if (facts.frozenAt !== null) {
    return {
      why: 'frozen',
      sentence: `The session is frozen since ${time(facts.frozenAt)}; its tasks wait until it is unfrozen.`,
    };
  }
  if (run.state === 'waiting' && run.dueAt !== null) {
    const reason = facts.statusDetails === '' ? '' : ` (${withoutStop(facts.statusDetails)})`;
    return {
      why: 'waits-for-retry',
      sentence: `Attempt ${run.attempt} of ${run.maxAttempts} is due at ${time(run.dueAt)}${reason}.`,
    };
  }
  return explainQueued(facts, run);
}

function explainHeld(facts: ExplainFacts, run: OpenRun, held: NonNullable<ExplainFacts['heldBy']>) {
  const doing = facts.statusDetails === '' ? '' : `, which reports "${facts.statusDetails}"`;
  const cancel = run.cancelRequested ? ' It has been asked to stop.' : '';
  return {
    why: 'held',
    sentence:
      `Attempt ${run.attempt} of ${run.maxAttempts} is held by ${held.instanceId}${doing}; ` +
      `its lease runs until ${time(held.leaseExpiresAt)}.${cancel}`,
  } as const;
}

function explainQueued({ runners, now }: ExplainFacts, run: OpenRun): Explanation {
  const since = `Queued since ${time(run.queuedAt)}`;
  if (runners === null) {
    return { why: 'queued', sentence: `${since}; the platform's own workers take it in turn.` };
  }
  const { runnerType, lastSeenAt, recent, recentBusy, recentDrained } = runners;
  if (recent === 0) {
    const minutes = lastSeenAt === null ? 0 : Math.floor((now.getTime() - lastSeenAt.getTime()) / 60_000);
    const last =
      lastSeenAt === null ? 'none has ever been seen' : `the last was seen ${count(minutes, 'minute')} ago`;
    return {
      why: 'no-runner',
      sentence: `No runner of type ${runnerType} is connected; ${last}. ${since}.`,
    };
  }
  if (recentDrained === recent) {
    return {
      why: 'runners-drained',
      sentence: `${since}; ${count(recent, 'runner')} of type ${runnerType} ${recent === 1 ? 'is' : 'are all'} drained.`,
    };
  }
  return {
    why: 'queued',
    sentence:
      `${since} behind ${count(run.tasksAhead, 'task')}; of ${count(recent - recentDrained, 'runner')} of type ${runnerType} ` +
      `${recentBusy} ${recentBusy === 1 ? 'is' : 'are'} busy.`,
  };
}

function explainIdle(facts: ExplainFacts): Explanation {
  if (facts.queuedUploads > 0) {
    return {
      why: 'uploads-queued',
      sentence: `${count(facts.queuedUploads, 'upload')} ${facts.queuedUploads === 1 ? 'is' : 'are'} stored and about to be published.`,
    };
  }
  if (facts.isInput) {
    return facts.lastProcessed === null
      ? { why: 'waits-for-upload', sentence: 'Waits for its first upload.' }
      : { why: 'up-to-date', sentence: `Its newest upload came at ${time(facts.lastProcessed)}.` };
  }
  if (facts.state === 'Failed') return explainFailed(facts);
  if (facts.state === 'Suspended') {
    return { why: 'suspended', sentence: 'Its runner suspended it until new input or a reprocess.' };
  }
  const missing = facts.parents.filter(({ hasOutput }) => !hasOutput);
  if (waitsForParents(facts.trigger, missing.length, facts.parents.length))
    return explainMissing(facts, missing);
  if (facts.parents.some(({ isNews }) => isNews)) return explainNews(facts);
  return {
    why: 'up-to-date',
    sentence: `Has consumed all input${facts.lastProcessed === null ? '' : `, last at ${time(facts.lastProcessed)}`}.`,
  };
}

function explainNews({ frozenAt }: ExplainFacts): Explanation {
  if (frozenAt === null)
    return { why: 'being-planned', sentence: 'New input has come; its run is being planned.' };
  return {
    why: 'frozen',
    sentence: `New input has come; the session is frozen since ${time(frozenAt)}, and its run is planned when it is unfrozen.`,
  };
}

function explainFailed({ lastRun, statusDetails }: ExplainFacts): Explanation {
  const reason = withoutStop(lastRun?.statusDetails ?? statusDetails);
  const attempts = lastRun === null ? '' : ` in attempt ${lastRun.attempt} of ${lastRun.maxAttempts}`;
  const at = lastRun?.endedAt ? ` at ${time(lastRun.endedAt)}` : '';
  return {
    why: 'failed',
    sentence: `Failed${at}${attempts}: ${reason}. It runs again for new input, by a retry or by a reprocess.`,
  };
}

function explainMissing({ trigger }: ExplainFacts, missing: readonly ExplainedParent[]): Explanation {
  const names = missing.map(({ name, state }) => `${name} (${state})`);
  const list =
    names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ');
  const which = names.length === 1 ? 'its parent' : trigger === 'any' ? 'one of its parents' : 'its parents';
  return { why: 'waits-for-parents', sentence: `Waits for output of ${which} ${list}.` };
}

/** Whether parents keep a node from running: all of them must have an output, or one, by its trigger. */
function waitsForParents(trigger: 'all' | 'any', silent: number, parents: number): boolean {
  return trigger === 'all' ? silent > 0 : silent === parents;
}

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
  if (reason !== undefined) return { wouldRun: true, why: dueReasons[reason] };
  if (waitsForParents(plan.trigger, silentParents.length, plan.parentPositions.length))
    return no(`No output yet of: ${silentParents.join(', ')}.`);
  return no('Nothing is new since its last run.');
}

const dueReasons: Readonly<Record<RunReason, string>> = {
  input: 'There are new inputs.',
  'follow-up': 'Its last run asked for another one.',
  reprocess: 'It is to be processed again.',
};

function no(why: string): RunPreview {
  return { wouldRun: false, why };
}

const time = (date: Date) => date.toISOString();
const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;
const withoutStop = (text: string) => text.replace(/\.$/, '');
