/** From what the runners wrote down and what the database shows in the end: the history of each run. */
import type { Database } from '../../../store/connection/database.ts';
import type { RecordedCall } from './campaign-record.ts';
import type { LockCall } from './lock-history.ts';

export interface Histories {
  readonly byRun: ReadonlyMap<string, readonly LockCall[]>;
  /** What no order of calls could make right. */
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
/** What the platform may answer, and what such an answer must say. */
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
 * Sorts the calls by run. Of claims without an answer the database tells which run they took; when they took it, and
 * whether they were undone, stays open.
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
  sorter.takeClaims();
  sorter.takeOthers();
  for (const atMs of prolongedAtMs) sorter.takeProlonged(atMs);
  sorter.takeRuns(runs);
  return sorter;
}

/** When leases were prolonged because no API process had been up, as the logs of processes say. */
export function prolongedAtMs(log: string): number[] {
  return log
    .split('\n')
    .filter((line) => line.includes('leases prolonged'))
    .map((line) => Date.parse((JSON.parse(line) as { time: string }).time));
}

class Sorter implements Histories {
  readonly byRun = new Map<string, LockCall[]>();
  readonly violations: string[] = [];
  readonly #recorded: readonly RecordedCall[];
  readonly #claims: readonly ClaimRow[];
  readonly #runOf: ReadonlyMap<string, string>;
  /** Claim calls by instance, in the order of their sending. */
  readonly #claimCalls = new Map<string, RecordedCall[]>();
  readonly #elsewhere = new Set<string>();

  constructor(recorded: readonly RecordedCall[], claims: readonly ClaimRow[]) {
    this.#recorded = recorded.filter(({ answer }) => answer?.status !== 'unmade');
    this.#claims = claims;
    this.#runOf = new Map(claims.map(({ taskId, runId }) => [taskId, runId]));
    for (const call of this.#recorded.filter(({ sent }) => sent.kind === 'claim')) {
      const calls = this.#claimCalls.get(call.sent.instance) ?? [];
      calls.push(call);
      this.#claimCalls.set(call.sent.instance, calls);
    }
    for (const calls of this.#claimCalls.values()) calls.sort((a, b) => a.sent.sentAt - b.sent.sentAt);
  }

  takeClaims(): void {
    const answered = new Map<string, RecordedCall>();
    for (const call of this.#recorded.filter(({ sent }) => sent.kind === 'claim')) {
      const taskId = call.answer?.taskId;
      if (call.answer?.status !== 200 || taskId === undefined) continue;
      if (answered.has(taskId)) this.violations.push(`Task ${taskId} was handed out twice.`);
      if (!this.#runOf.has(taskId)) this.violations.push(`Task ${taskId} was handed out and is not stored.`);
      answered.set(taskId, call);
    }
    const claimBy = new Map<RecordedCall, ClaimRow>();
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
    for (const [call, claim] of claimBy) this.#takeClaim(claim, call, claimBy);
  }

  /** Heartbeats and ends; and answers that nobody may get. */
  takeOthers(): void {
    for (const call of this.#recorded) {
      const { sent, answer } = call;
      const shown = [answer?.status, answer?.code].filter((part) => part !== undefined).join(' ');
      if (isAnswered(call) && !expected[sent.kind]!.includes(shown))
        this.violations.push(`${JSON.stringify(sent)} was answered ${shown}.`);
      if (sent.kind === 'claim') continue;
      const { instance, taskId } = sent;
      const runId = this.#runOf.get(taskId)!;
      const told = { taskId, instance, ...times(call) };
      const status = isAnswered(call) ? answer!.status : 'lost';
      if (sent.kind === 'heartbeat') {
        const outcome = status === 'lost' ? 'unknown' : status === 200 ? 'kept' : 'refused';
        this.#add(runId, {
          kind: 'heartbeat',
          ...told,
          outcome,
          ...lease(outcome === 'kept' ? answer : undefined),
        });
      } else {
        const outcome =
          status === 'lost' ? 'unknown' : status === 200 ? 'ended' : status === 409 ? 'finished' : 'refused';
        const retry = answer?.willRetry === undefined ? {} : { willRetry: answer.willRetry };
        this.#add(runId, { kind: 'end', ...told, how: sent.how, outcome, ...retry });
      }
    }
  }

  /** It was noted some time after it had been done. */
  takeProlonged(atMs: number): void {
    const prolonged = { kind: 'prolonged', sentAt: atMs - 10_000, until: atMs } as const;
    for (const calls of this.byRun.values())
      calls.push({ ...prolonged, answeredAt: Number.POSITIVE_INFINITY });
  }

  takeRuns(runs: readonly RunRow[]): void {
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
  #unanswered(claim: ClaimRow, claimBy: ReadonlyMap<RecordedCall, ClaimRow>): RecordedCall | undefined {
    return this.#claimCalls
      .get(claim.instance)
      ?.findLast(
        (call) => call.sent.sentAt <= claim.claimedAtMs + slackMs && !isAnswered(call) && !claimBy.has(call),
      );
  }

  /** The claim itself, and the claims of the same instance by which it may give up what this one took. */
  #takeClaim(
    { runId, taskId, instance, attempt, claimedAtMs }: ClaimRow,
    own: RecordedCall,
    claimBy: ReadonlyMap<RecordedCall, ClaimRow>,
  ): void {
    if (isAnswered(own) && own.answer?.attempt !== attempt)
      this.violations.push(
        `Task ${taskId} was told to be attempt ${own.answer?.attempt}, and is ${attempt}.`,
      );
    this.#add(runId, { kind: 'claim', taskId, instance, attempt, ...times(own), ...lease(own.answer) });
    const takenAt = isAnswered(own) ? times(own).answeredAt : claimedAtMs + slackMs;
    for (const call of this.#claimCalls.get(instance) ?? []) {
      const { sentAt, answeredAt } = times(call);
      if (Math.min(answeredAt, sentAt + latestEffectMs) < own.sent.sentAt) continue;
      // A claim of the very same run stands in its history as what it is.
      if (claimBy.get(call)?.runId !== runId) this.#addElsewhere(runId, call);
      if (isAnswered(call) && sentAt > takenAt) break;
    }
  }

  #addElsewhere(runId: string, call: RecordedCall): void {
    const key = `${runId} ${call.sent.instance} ${call.sent.sentAt} ${call.sent.call}`;
    if (this.#elsewhere.has(key)) return;
    this.#elsewhere.add(key);
    this.#add(runId, { kind: 'claim-elsewhere', instance: call.sent.instance, ...times(call) });
  }
}

function lease(answer: RecordedCall['answer']): { readonly leaseUntil?: number } {
  return answer?.leaseUntil === undefined ? {} : { leaseUntil: answer.leaseUntil };
}
