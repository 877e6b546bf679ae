/** Why a node is not running, or not running any more: one sentence from what the database holds. */
import type { NodeState } from './node-state.ts';

type Explained =
  | 'held'
  | 'frozen'
  | 'waits-for-retry'
  | 'no-runner'
  | 'runners-drained'
  | 'queued'
  | 'waits-for-upload'
  | 'uploads-queued'
  | 'failed'
  | 'suspended'
  | 'waits-for-parents'
  | 'up-to-date'
  | 'being-planned';

interface ExplainedParent {
  readonly nodeInstanceId: number;
  readonly name: string;
  readonly state: NodeState | 'Unknown';
  readonly hasOutput: boolean;
  /** It has published something that the node has not consumed. */
  readonly isNews: boolean;
}

/** What is known of a node. Times are of the database's clock. */
export interface ExplainFacts {
  readonly now: Date;
  readonly isInput: boolean;
  readonly trigger: 'all' | 'any';
  readonly state: NodeState | 'Unknown';
  readonly statusDetails: string;
  readonly lastProcessed: Date | null;
  readonly frozenAt: Date | null;
  readonly parents: readonly ExplainedParent[];
  /** Uploads to this node that were acknowledged and are not published yet. */
  readonly queuedUploads: number;
  /** The run that is not done. */
  readonly openRun: {
    readonly id: string;
    readonly state: 'queued' | 'held' | 'waiting';
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
  /** Those that may claim its tasks, and do not claim those of other node templates alone. Null where the platform's own workers run it. */
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
  const waits = facts.trigger === 'all' ? missing.length > 0 : missing.length === facts.parents.length;
  if (waits) return explainMissing(facts, missing);
  if (facts.parents.some(({ isNews }) => isNews)) {
    return { why: 'being-planned', sentence: 'New input has come; its run is being planned.' };
  }
  return {
    why: 'up-to-date',
    sentence: `Has consumed all input${facts.lastProcessed === null ? '' : `, last at ${time(facts.lastProcessed)}`}.`,
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

const time = (date: Date) => date.toISOString();
const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;
const withoutStop = (text: string) => text.replace(/\.$/, '');
