/** Derives the history of each run from the runners' records and the database at the end. */
import type { Database } from '../../../store/connection/database.ts';
import type { RecordedCall } from './campaign-record.ts';
import type { LockCall } from './lock.ts';

export interface Histories {
  readonly byRun: ReadonlyMap<string, readonly LockCall[]>;
  /** Findings that are wrong in every order of calls. */
  readonly violations: readonly string[];
}

interface ClaimRow {
  readonly taskId: string;
  readonly runId: string;
  readonly attempt: number;
  readonly instance: string;
  readonly claimedAtMs: number;
}

interface RunRow {
  readonly runId: string;
  readonly state: string;
  readonly attempt: number;
}

const slackMs = 5;
/** A call without an answer takes effect within this time or never: longer than processes stop and statements take. */
const latestEffectMs = 60_000;
/** The answers that the platform may give, and what each must contain. */
const expected: Readonly<Record<string, readonly string[]>> = {
  claim: ['200', '204'],
  heartbeat: ['200', '404 task_not_found'],
  end: ['200', '404 task_not_found', '409 task_finished'],
};

/** Whether the call is known to have had this outcome; errors of the server leave open what happened. */
function isAnswered({ answer }: RecordedCall): boolean {
  return typeof answer?.status === 'number' && answer.status < 500;
}

function times(call: RecordedCall): { readonly sentAt: number; readonly answeredAt: number } {
  const answeredAt = isAnswered(call) ? call.answer!.answeredAt : Number.POSITIVE_INFINITY;
  return { sentAt: call.sent.sentAt, answeredAt };
}

/**
 * Sorts the calls by run. Of claims without an answer the database shows which run they claimed; when they claimed
 * it, and whether they were undone, is unknown.
 * @param prolongedAtMs when leases were prolonged because no server was up
 * @param sessionIds of the runs that these runners worked for; default: all that there are
 */
export async function historiesOf(
  database: Database,
  recorded: readonly RecordedCall[],
  prolongedAtMs: readonly number[],
  sessionIds: readonly string[] | null = null,
): Promise<Histories> {
  const claims = await database.query<ClaimRow>(
    `select task_id, run_id, attempt, instance_id as instance,
            extract(epoch from claimed_at)::float8 * 1000 as claimed_at_ms from node_claim
      where $1::uuid[] is null or run_id in (select id from node_run where session_id = any ($1::uuid[]))
      order by claimed_at`,
    [sessionIds],
  );
  const runs = await database.query<RunRow>(
    `select id as run_id, state, attempt from node_run
      where $1::uuid[] is null or session_id = any ($1::uuid[])`,
    [sessionIds],
  );
  const sorter = new Sorter(recorded, claims);
  sorter.sortClaims();
  sorter.sortOthers();
  for (const atMs of prolongedAtMs) sorter.addProlonged(atMs);
  sorter.addRuns(runs);
  return sorter;
}

/** When leases were prolonged because no API process had been up, from the logs of processes. */
export function prolongedAtMs(log: string): number[] {
  return log
    .split('\n')
    .filter((line) => line.includes('leases prolonged'))
    .map((line) => Date.parse((JSON.parse(line) as { time: string }).time));
}

/** A claim, or the claim of an end with `next`. */
interface ClaimCall extends RecordedCall {
  /** It is answered with the task that the instance holds, and does not end its claim. */
  readonly findsHeld: boolean;
}

function claimOf({ sent, answer }: RecordedCall): readonly ClaimCall[] {
  if (sent.kind === 'claim') return [{ sent, answer, findsHeld: false }];
  if (sent.kind !== 'end' || sent.claimsNext !== true) return [];
  if (answer?.status !== 200) return isAnswered({ sent, answer }) ? [] : [{ sent, answer, findsHeld: true }];
  const { next, ...end } = answer;
  return [{ sent, answer: { ...end, ...next, status: next ? 200 : 204 }, findsHeld: true }];
}

class Sorter implements Histories {
  readonly byRun = new Map<string, LockCall[]>();
  readonly violations: string[] = [];
  readonly #recorded: readonly RecordedCall[];
  readonly #claims: readonly ClaimRow[];
  readonly #runOf: ReadonlyMap<string, string>;
  /** Claims by call or with an end, by instance, in the order of their sending. */
  readonly #claimCalls = new Map<string, ClaimCall[]>();
  /** The runs of tasks that a call did not claim but found held by its instance. */
  readonly #delivered = new Map<ClaimCall, string>();
  readonly #elsewhere = new Set<string>();

  constructor(recorded: readonly RecordedCall[], claims: readonly ClaimRow[]) {
    this.#recorded = recorded.filter(({ answer }) => answer?.status !== 'unmade');
    this.#claims = claims;
    this.#runOf = new Map(claims.map(({ taskId, runId }) => [taskId, runId]));
    for (const call of this.#recorded.flatMap(claimOf)) {
      const calls = this.#claimCalls.get(call.sent.instance) ?? [];
      calls.push(call);
      this.#claimCalls.set(call.sent.instance, calls);
    }
    for (const calls of this.#claimCalls.values()) calls.sort((a, b) => a.sent.sentAt - b.sent.sentAt);
  }

  sortClaims(): void {
    const answered = this.#answeredClaims();
    const claimBy = new Map<ClaimCall, ClaimRow>();
    const unheard: ClaimRow[] = [];
    for (const claim of this.#claims) {
      const call = answered.get(claim.taskId);
      if (call === undefined) unheard.push(claim);
      else claimBy.set(call, claim);
    }
    for (const claim of unheard) {
      const call = this.#unanswered(claim, claimBy);
      if (call === undefined)
        this.violations.push(`Nobody made the claim that took ${claim.taskId} for ${claim.instance}.`);
      else claimBy.set(call, claim);
    }
    for (const [call, claim] of claimBy) this.#sortClaim(claim, call);
  }

  /** By task, the call that claimed it; {@link #delivered} gets those that found it held. */
  #answeredClaims(): Map<string, ClaimCall> {
    const claimedAtMs = new Map(this.#claims.map((claim) => [claim.taskId, claim.claimedAtMs]));
    const answered = new Map<string, ClaimCall>();
    for (const call of [...this.#claimCalls.values()].flat()) {
      const taskId = call.answer?.taskId;
      if (call.answer?.status !== 200 || taskId === undefined) continue;
      const runId = this.#runOf.get(taskId);
      const before = answered.get(taskId);
      if (runId === undefined) this.violations.push(`Task ${taskId} was handed out and is not stored.`);
      const isLater = call.sent.sentAt > (claimedAtMs.get(taskId) ?? 0) + slackMs;
      if (call.findsHeld && runId !== undefined && (isLater || before?.sent.instance === call.sent.instance))
        this.#delivered.set(call, runId);
      else if (before === undefined) answered.set(taskId, call);
      else this.violations.push(`Task ${taskId} was handed out twice.`);
    }
    return answered;
  }

  /** Heartbeats and ends, and forbidden answers. */
  sortOthers(): void {
    for (const call of this.#recorded) {
      const { sent, answer } = call;
      const shown = [answer?.status, answer?.code].filter((part) => part !== undefined).join(' ');
      if (isAnswered(call) && !expected[sent.kind]!.includes(shown))
        this.violations.push(`${JSON.stringify(sent)} was answered ${shown}.`);
      if (sent.kind === 'claim') continue;
      const { instance, taskId } = sent;
      const runId = this.#runOf.get(taskId)!;
      const common = { taskId, instance, ...times(call) };
      const status = isAnswered(call) ? answer!.status : 'lost';
      if (sent.kind === 'heartbeat') {
        const outcome = status === 'lost' ? 'unknown' : status === 200 ? 'kept' : 'refused';
        this.#add(runId, {
          kind: 'heartbeat',
          ...common,
          outcome,
          ...lease(outcome === 'kept' ? answer : undefined),
        });
      } else {
        const outcome =
          status === 'lost' ? 'unknown' : status === 200 ? 'ended' : status === 409 ? 'finished' : 'refused';
        const retry = answer?.willRetry === undefined ? {} : { willRetry: answer.willRetry };
        this.#add(runId, { kind: 'end', ...common, how: sent.how, outcome, ...retry });
      }
    }
  }

  /** It was noted some time after it was done. */
  addProlonged(atMs: number): void {
    const prolonged = { kind: 'prolonged', sentAt: atMs - 10_000, until: atMs } as const;
    for (const calls of this.byRun.values())
      calls.push({ ...prolonged, answeredAt: Number.POSITIVE_INFINITY });
  }

  addRuns(runs: readonly RunRow[]): void {
    const sentAt = Date.now();
    for (const { runId, state, attempt } of runs) {
      if (state !== 'done') this.violations.push(`Run ${runId} is ${state} in the end.`);
      this.#add(runId, { kind: 'final', attempt, sentAt, answeredAt: sentAt + 1 });
    }
  }

  #add(runId: string, call: LockCall): void {
    const calls = this.byRun.get(runId);
    if (calls === undefined) this.byRun.set(runId, [call]);
    else calls.push(call);
  }

  /** The newest claim of the instance without an answer that can have made the row. */
  #unanswered(claim: ClaimRow, claimBy: ReadonlyMap<ClaimCall, ClaimRow>): ClaimCall | undefined {
    return this.#claimCalls
      .get(claim.instance)
      ?.findLast(
        (call) => call.sent.sentAt <= claim.claimedAtMs + slackMs && !isAnswered(call) && !claimBy.has(call),
      );
  }

  /** The claim itself, and the claims of the same instance that may end it. */
  #sortClaim({ runId, taskId, instance, attempt, claimedAtMs }: ClaimRow, own: ClaimCall): void {
    if (isAnswered(own) && own.answer?.attempt !== attempt)
      this.violations.push(
        `Task ${taskId} was answered as attempt ${own.answer?.attempt}, and is ${attempt}.`,
      );
    this.#add(runId, { kind: 'claim', taskId, instance, attempt, ...times(own), ...lease(own.answer) });
    const takenAt = isAnswered(own) ? times(own).answeredAt : claimedAtMs + slackMs;
    for (const call of this.#claimCalls.get(instance) ?? []) {
      const { sentAt, answeredAt } = times(call);
      if (Math.min(answeredAt, sentAt + latestEffectMs) < own.sent.sentAt) continue;
      const found = this.#delivered.get(call);
      // A run may be held twice by one instance: a call delivers one of its tasks.
      const isOurs = !isAnswered(call) || (found === runId && call.answer?.taskId === taskId);
      if (call.findsHeld && isOurs)
        this.#add(runId, { kind: 'delivered', taskId, instance, ...times(call), ...lease(call.answer) });
      if (found === runId) continue;
      // Also one that gets the same run again: it ends this claim when it arrives, and others may hold the run between.
      if (call !== own) this.#addElsewhere(runId, call);
      if (isAnswered(call) && sentAt > takenAt) break;
    }
  }

  #addElsewhere(runId: string, call: ClaimCall): void {
    const key = `${runId} ${call.sent.instance} ${call.sent.sentAt} ${call.sent.call}`;
    if (this.#elsewhere.has(key)) return;
    this.#elsewhere.add(key);
    this.#add(runId, { kind: 'claim-elsewhere', instance: call.sent.instance, ...times(call) });
  }
}

function lease(answer: RecordedCall['answer']): { readonly leaseUntil?: number } {
  return answer?.leaseUntil === undefined ? {} : { leaseUntil: answer.leaseUntil };
}
