/**
 * How a held task ends: complete, fail, release by its holder, or the loss of its lease.
 *
 * The fence: every end repeats the whole condition (task, holder, instance, not ended, lease alive by the database's
 * clock, read after the row is locked) in the transaction that writes it.
 */
import {
  type CompleteOutcome,
  endAttempt,
  type FailureCategory,
  followUpDecision,
} from '../../domain/runs/run-plan.ts';
import type { EndedAttempt } from '../../domain/sessions/session-change.ts';
import type { Database, Tx } from '../connection/database.ts';
import { failpoint } from '../connection/failpoint.ts';
import { Refused, refusable } from '../connection/refused.ts';
import { writeLogTail } from '../run-logs/log-tail.ts';
import type { TaskHolder } from '../runners/holder.ts';
import { endClaim, heldValues, isHeld, wasIncremental } from '../runners/lease.ts';
import { changed, changeSessionWithin, type LockedSession, unchanged } from './change-session.ts';
import { type ArrivedClaim, recordClaim, registerAndClaimLast, type TemplateClaim } from './claims.ts';
import { planSession } from './plan-session.ts';
import { concernsRejections, settleRejections } from './rejections.ts';
import { endFailedAttempt, type FailedRun, requeueRun, runFacts } from './requeue-run.ts';
import { saveStateBefore } from './state-history.ts';
import { writeDone } from './write-run-outcome.ts';

export type TaskEnd =
  | {
      readonly kind: 'complete';
      readonly outcome: CompleteOutcome;
      readonly hasMore: boolean;
      readonly statusDetails?: string | undefined;
      readonly state?: Record<string, unknown> | undefined;
    }
  | {
      readonly kind: 'fail';
      readonly category: FailureCategory;
      readonly reason: string;
      readonly logTail?: string | undefined;
    }
  | {
      readonly kind: 'release';
      readonly reason?: string | undefined;
      readonly logTail?: string | undefined;
    };

export type EndRefusal = 'task-not-found' | 'task-finished' | 'output-missing' | 'not-incremental';

/** `reply` is the interface's body for the call; a repeat of the same end by the same holder gets the same one. */
type AcceptedEnd =
  | {
      readonly kind: 'ended';
      readonly reply: Record<string, unknown>;
      readonly sessionId: string;
      readonly runId: string;
      readonly nodeInstanceId: number;
      /** What the claim of the next task found, where the transaction has made it. */
      readonly next?: ArrivedClaim;
    }
  | { readonly kind: 'repeated'; readonly reply: Record<string, unknown> };

export type EndResult = AcceptedEnd | { readonly kind: 'refused'; readonly why: EndRefusal };

/** The task whose claim this transaction has ended, with its run. */
interface EndingTask extends FailedRun {
  readonly taskId: string;
  readonly wroteOutput: boolean;
  readonly incremental: boolean;
  readonly watermarkMoved: boolean;
  /** The task, or an earlier one of the node, rejected inputs; false for an incremental node. */
  readonly concernsRejections: boolean;
}

/** The call that ends a task. */
export interface TaskEndCall {
  /** The digest of the whole call, to tell a repeat from a different end. */
  readonly digest: string;
  /** A random number in [0, 1), for the pause before a retry. */
  readonly jitter: number;
  /** The claim that the same transaction makes for the instance; the end stands without it when it fails. */
  readonly next?: TemplateClaim | undefined;
}

/** Ends a task in one transaction: outcome, node states, retry or follow-up, and the runs that become due. */
export async function endTask(
  database: Database,
  caller: TaskHolder,
  end: TaskEnd,
  call: TaskEndCall,
): Promise<EndResult> {
  const { next } = call;
  try {
    const result = await refusable<AcceptedEnd, EndRefusal>(() =>
      database.transaction(async (tx) => {
        const ended = await endWithin(tx, caller, end, call);
        if (ended.kind !== 'ended' || next === undefined) return ended;
        return { ...ended, next: await registerAndClaimLast(tx, caller, next) };
      }),
    );
    if (result.kind === 'refused') return result;
    await failpoint('end-committed');
    if (result.kind === 'ended' && result.next?.task !== undefined) await recordClaim(result.next.task);
    return result;
  } catch (error) {
    // Not a refusal: for example when another claim of the instance wins at the same time.
    if (next !== undefined) return await endTask(database, caller, end, { ...call, next: undefined });
    throw error;
  }
}

async function endWithin(
  tx: Tx,
  caller: TaskHolder,
  end: TaskEnd,
  { digest, jitter }: TaskEndCall,
): Promise<AcceptedEnd> {
  const { taskId } = caller;
  const endClaimed = () => endHeldClaim(tx, caller, end.kind, digest);
  const apply = async (session: LockedSession, run: EndingTask | undefined) => {
    if (!run) return unchanged(await repeatedEnd(tx, caller, digest));
    if ('logTail' in end && end.logTail) await writeLogTail(tx, run, end.logTail);
    const { reply, ended } = await applyEnd(tx, session, run, end, jitter);
    const { runId, nodeInstanceId } = run;
    const { sessionId } = session;
    const result = { kind: 'ended', reply, sessionId, runId, nodeInstanceId } as const;
    return changed<AcceptedEnd>(result, ended, { taskId, reply });
  };
  const result = await changeSessionWithin<AcceptedEnd, EndingTask | undefined>(
    tx,
    { taskId },
    apply,
    endClaimed,
  );
  if (result === undefined) throw new Refused<EndRefusal>('task-not-found');
  return result;
}

async function endHeldClaim(
  tx: Tx,
  caller: TaskHolder,
  ending: TaskEnd['kind'],
  digest: string,
): Promise<EndingTask | undefined> {
  const [run] = await tx.query<EndingTask>(
    `${endClaim('ending = $4, ending_digest = $5', isHeld)}
     select ended.task_id, ${runFacts}, run.wrote_output, ${wasIncremental('ended')} as incremental,
            coalesce(run.reprocess_position, n.watermark_position) > ended.watermark_position as watermark_moved,
            not ${wasIncremental('ended')} and ${concernsRejections('ended.task_id', 'run.node_instance_id')} as concerns_rejections
       from ended, run, node_instance n, node_template t
      where n.id = run.node_instance_id and t.id = n.node_template_id`,
    [...heldValues(caller), ending, digest],
  );
  return run;
}

/** The same reply to a repeat of the same end, for the holder that ended the task, for ten minutes. */
async function repeatedEnd(tx: Tx, caller: TaskHolder, digest: string): Promise<AcceptedEnd> {
  const [claim] = await tx.query<{ digest: string; reply: Record<string, unknown> }>(
    `select ending_digest as digest, ending_reply as reply from node_claim
      where task_id = $1 and holder = $2 and instance_id = $3 and ending_reply is not null
        and ended_at > clock_timestamp() - interval '10 minutes'`,
    heldValues(caller),
  );
  if (!claim) throw new Refused<EndRefusal>('task-not-found');
  if (claim.digest !== digest) throw new Refused<EndRefusal>('task-finished');
  return { kind: 'repeated', reply: claim.reply };
}

interface Applied {
  readonly reply: Record<string, unknown>;
  readonly ended: readonly EndedAttempt[];
}

async function applyEnd(
  tx: Tx,
  session: LockedSession,
  run: EndingTask,
  end: TaskEnd,
  jitter: number,
): Promise<Applied> {
  switch (end.kind) {
    case 'complete':
      return applyComplete(tx, session, run, end);
    case 'fail':
      return applyFailure(tx, session, run, end, jitter);
    case 'release': {
      const how = { kind: 'released', reason: end.reason } as const;
      const { ended, nodeState } = await requeueRun(tx, session, run.runId, how);
      return { reply: { taskId: run.taskId, nodeState }, ended };
    }
  }
}

async function applyComplete(
  tx: Tx,
  session: LockedSession,
  run: EndingTask,
  report: Extract<TaskEnd, { kind: 'complete' }>,
): Promise<Applied> {
  if (report.hasMore && !run.incremental) throw new Refused<EndRefusal>('not-incremental');
  const end = endAttempt(run, report, 0);
  if (end.kind !== 'done') throw new Error('A completed attempt is done.');
  const succeeded = end.outcome === 'completed';
  const next =
    end.outcome === 'cancelled'
      ? { followUp: false }
      : followUpDecision({ ...report, watermarkMoved: run.watermarkMoved });
  const details = 'why' in next && next.why ? `${end.statusDetails} ${next.why}`.trim() : end.statusDetails;
  const isSuccess = end.nodeState === 'Succeeded';
  if (run.concernsRejections && end.outcome !== 'cancelled')
    await settleRejections(tx, run.taskId, isSuccess);
  const effects = {
    publishTo: succeeded ? session : undefined,
    state: end.outcome === 'cancelled' ? undefined : report.state,
    followUpWanted: next.followUp,
    watermarkToUpper: !run.incremental && isSuccess,
  };
  if (effects.state !== undefined) await saveStateBefore(tx, run.taskId);
  const newestBefore = session.newestPosition;
  const [endedAttempt, queued] = await Promise.all([
    writeDone(tx, run, { ...end, statusDetails: details }, effects),
    planSession(tx, session, run.nodeInstanceId),
  ]);
  if (succeeded && session.newestPosition === newestBefore && !run.wroteOutput)
    throw new Refused<EndRefusal>('output-missing');
  const nodeState = queued.includes(run.nodeInstanceId) ? 'Pending' : end.nodeState;
  return {
    reply: { taskId: run.taskId, outcome: report.outcome, nodeState, followUp: next.followUp },
    ended: [endedAttempt],
  };
}

async function applyFailure(
  tx: Tx,
  session: LockedSession,
  run: EndingTask,
  report: Extract<TaskEnd, { kind: 'fail' }>,
  jitter: number,
): Promise<Applied> {
  const { ended, end, nodeState } = await endFailedAttempt(tx, session, run, report, jitter);
  const willRetry = end.kind === 'retry';
  const nextAttemptAt = willRetry ? new Date(session.nowMs + end.delayMs).toISOString() : null;
  return { reply: { taskId: run.taskId, nodeState, willRetry, nextAttemptAt }, ended: [ended] };
}
