/** Why a node is not running, or no longer running, in sentences for operators. */
import { fileNameOf } from '../outputs/file-name.ts';
import type { FullLimit } from '../runners/concurrency.ts';
import type { VisibleNodeState } from './node-state.ts';
import { describeFailure, type FailureCategory, type OpenRunState, waitsForParents } from './run-plan.ts';
import { progressWords, type RunProgress } from './run-progress.ts';

/** Why a node does not run, as codes for programs. */
export const explained = [
  'held',
  'frozen',
  'waits-for-retry',
  'no-runner',
  'runners-drained',
  'concurrency-limit',
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
    readonly claimedAt: Date;
    readonly progress: RunProgress | null;
    /** At the claim, above the watermark; null for a node that is not incremental. */
    readonly pendingInputs: number | null;
  } | null;
  readonly lastRun: {
    readonly id: string;
    readonly outcome: string;
    readonly statusDetails: string;
    readonly attempt: number;
    readonly maxAttempts: number;
    readonly endedAt: Date | null;
  } | null;
  /** Inputs that its runners rejected, and why the last one. */
  readonly rejectedInputs: number;
  readonly lastRejection: {
    readonly outputIdentifier: string;
    readonly metadata: Readonly<Record<string, unknown>> | null;
    readonly category: FailureCategory;
    readonly reason: string;
  } | null;
  /**
   * Runners that may claim its tasks, without those that claim only for other node templates. Null where the platform's
   * own workers run it.
   */
  readonly runners: {
    readonly runnerType: string;
    readonly lastSeenAt: Date | null;
    /** The runners that are there, drained or not. */
    readonly recent: number;
    /** The busy ones among those that are there and not drained. */
    readonly recentBusy: number;
    readonly recentDrained: number;
    /** The runners of its type that are there, also those that claim only for other node templates. */
    readonly ofType: number;
  } | null;
  /** The limits that leave no place for its queued run. */
  readonly fullLimits: readonly FullLimit[];
}

export interface Explanation {
  readonly why: Explained;
  readonly sentence: string;
}

export function explainNode(facts: ExplainFacts): Explanation {
  const { why, sentence } = facts.openRun === null ? explainIdle(facts) : explainOpen(facts, facts.openRun);
  return { why, sentence: sentence + rejections(facts, sentence) };
}

/** @param said what is said already: a reason that ends a sentence there is not repeated */
function rejections({ rejectedInputs, lastRejection: last }: ExplainFacts, said: string): string {
  if (last === null) return '';
  const input = fileNameOf(last.metadata) ?? last.outputIdentifier;
  const reason = withoutStop(last.reason);
  const isSaid = said.includes(`: ${reason}.`);
  const lastly = isSaid ? input : `${input} (${describeFailure({ ...last, reason })})`;
  return rejectedInputs === 1
    ? ` Its input ${lastly} is rejected.`
    : ` ${rejectedInputs} of its inputs are rejected, the last of them ${lastly}.`;
}

type OpenRun = NonNullable<ExplainFacts['openRun']>;

function explainOpen(facts: ExplainFacts, run: OpenRun): Explanation {
  if (run.state === 'held' && facts.heldBy !== null) return explainHeld(facts, run, facts.heldBy);
  if (facts.frozenAt !== null) {
    return {
      why: 'frozen',
      sentence: `The session has been frozen since ${time(facts.frozenAt)}; its tasks wait until it is unfrozen.`,
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
  const said = [
    ...(facts.statusDetails === '' ? [] : [`"${facts.statusDetails}"`]),
    ...(held.progress === null ? [] : [progressWords(held.progress)]),
  ];
  const doing = said.length === 0 ? '' : `; it reports ${said.join(', ')}`;
  const backlog = held.pendingInputs ? ` At its claim ${pending(held.pendingInputs)}.` : '';
  const cancel = run.cancelRequested ? ' It is being cancelled.' : '';
  return {
    why: 'held',
    sentence:
      `Running on ${held.instanceId} since ${time(held.claimedAt)}, attempt ${run.attempt} of ${run.maxAttempts}` +
      `${doing}.${backlog}${cancel}`,
  } as const;
}

const pending = (inputs: number) => `${count(inputs, 'input')} ${inputs === 1 ? 'was' : 'were'} pending`;

function explainQueued({ runners, now, fullLimits }: ExplainFacts, run: OpenRun): Explanation {
  const since = `Queued since ${time(run.queuedAt)}`;
  const behind = `${since} behind ${count(run.tasksAhead, 'task')}`;
  if (runners === null) {
    return { why: 'queued', sentence: `${behind} of the platform's own workers.` };
  }
  const { runnerType, lastSeenAt, recent, recentBusy, recentDrained, ofType } = runners;
  if (recent === 0 && ofType > 0) {
    const none =
      ofType === 1
        ? `The runner of type ${runnerType} that is connected claims no tasks`
        : `None of the ${ofType} runners of type ${runnerType} that are connected claims tasks`;
    return { why: 'no-runner', sentence: `${none} of its node template. ${since}.` };
  }
  if (recent === 0) {
    const minutes = lastSeenAt === null ? 0 : Math.floor((now.getTime() - lastSeenAt.getTime()) / 60_000);
    const last =
      lastSeenAt === null ? 'none was ever seen' : `the last was seen ${count(minutes, 'minute')} ago`;
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
  const [limit] = fullLimits;
  if (limit !== undefined) return { why: 'concurrency-limit', sentence: `${since}; ${limited(limit)}` };
  return {
    why: 'queued',
    sentence:
      `${behind}; of ${count(recent - recentDrained, 'runner')} of type ${runnerType} ` +
      `${recentBusy} ${isOrAre(recentBusy)} busy.`,
  };
}

const limitedNouns = { nodeTemplate: 'node template', runnerType: 'runner type' } as const;
const limitedScopes = { all: '', project: ' of its project', session: ' of its session' } as const;

function limited({ kind, name, scope, max, held }: FullLimit): string {
  const tasks = `${max === 1 ? 'task' : 'tasks'}${limitedScopes[scope]}`;
  return `at most ${max} ${tasks} of ${limitedNouns[kind]} ${name} ${isOrAre(max)} held at once, and ${held} ${isOrAre(held)}.`;
}

function explainIdle(facts: ExplainFacts): Explanation {
  if (facts.queuedUploads > 0) {
    return {
      why: 'uploads-queued',
      sentence: `${count(facts.queuedUploads, 'upload')} ${isOrAre(facts.queuedUploads)} stored and waiting to be published.`,
    };
  }
  if (facts.isInput) {
    return facts.lastProcessed === null
      ? { why: 'waits-for-upload', sentence: 'Waits for its first upload.' }
      : { why: 'up-to-date', sentence: `Last upload at ${time(facts.lastProcessed)}.` };
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
    sentence: `Up to date${facts.lastProcessed === null ? '' : `; last success at ${time(facts.lastProcessed)}`}.`,
  };
}

function explainNews({ frozenAt }: ExplainFacts): Explanation {
  if (frozenAt === null)
    return { why: 'being-planned', sentence: 'New input has arrived; its run is being planned.' };
  return {
    why: 'frozen',
    sentence: `New input has arrived; the session has been frozen since ${time(frozenAt)}, and the run is planned when it is unfrozen.`,
  };
}

function explainFailed({ lastRun, statusDetails }: ExplainFacts): Explanation {
  const reason = withoutStop(lastRun?.statusDetails ?? statusDetails);
  const attempts = lastRun === null ? '' : ` in attempt ${lastRun.attempt} of ${lastRun.maxAttempts}`;
  const at = lastRun?.endedAt ? ` at ${time(lastRun.endedAt)}` : '';
  return {
    why: 'failed',
    sentence: `Failed${at}${attempts}: ${reason}. It runs again on new input, a retry or a reprocess.`,
  };
}

const stateWords: Readonly<Record<VisibleNodeState, string>> = {
  NeverBegan: 'not started',
  Pending: 'waiting',
  Processing: 'running',
  Succeeded: 'done',
  Failed: 'failed',
  Suspended: 'suspended',
  Unknown: 'unknown',
};

function explainMissing({ trigger }: ExplainFacts, missing: readonly ExplainedParent[]): Explanation {
  const names = missing.map(({ name, state }) => `${name} (${stateWords[state]})`);
  const list =
    names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ');
  const which = names.length === 1 ? 'its parent' : trigger === 'any' ? 'one of its parents' : 'its parents';
  return { why: 'waits-for-parents', sentence: `Waits for output of ${which} ${list}.` };
}

const time = (date: Date) => date.toISOString();
const isOrAre = (number: number) => (number === 1 ? 'is' : 'are');
const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;
const withoutStop = (text: string) => text.replace(/\.$/, '');
