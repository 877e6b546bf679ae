/** What follows for a run whose claim ended without an outcome, or whose attempt failed. */
import { type NodeState, nodeStateCodes } from '../../domain/runs/node-state.ts';
import {
  type AttemptEnd,
  type AttemptReport,
  endAttempt,
  type RunFacts,
  releaseDelayMs,
} from '../../domain/runs/run-plan.ts';
import type { EndedAttempt } from '../../domain/sessions/session-change.ts';
import { leaseLost } from '../../telemetry/metrics.ts';
import type { Tx } from '../connection/database.ts';
import { type LockedSession, waitsFor } from './change-session.ts';
import { planSession } from './plan-session.ts';
import { notifyReady, queuedAfter, queuedColumns } from './queue.ts';
import { type EndingRun, writeDone, writeRetry } from './write-run-outcome.ts';

export type Requeue =
  /** The claim was never used, as if it had not been made. */
  | { readonly kind: 'unused' }
  /** The holder released it, and may have said why; waits from the third time on. */
  | { readonly kind: 'released'; readonly reason?: string | undefined }
  /** The lease ended, and the platform may know why: counts as an attempt. */
  | { readonly kind: 'lost'; readonly reason?: string | null };

/** A run whose attempt has failed; its row is locked. */
export interface FailedRun extends EndingRun, RunFacts {}

/** The columns of a {@link FailedRun}, of a row `run`. */
export const runFacts = `run.id as run_id, run.node_instance_id, run.attempt, run.max_attempts,
            run.first_attempt, run.lost_count, run.cancel_requested`;

interface HeldRun extends FailedRun {
  readonly templateName: string;
  readonly releaseCount: number;
}

/** Locks a run whose claim has ended; undefined when the run is no longer held. */
export async function lockHeldRun(tx: Tx, runId: string): Promise<HeldRun | undefined> {
  const [run] = await tx.query<HeldRun>(
    `select ${runFacts}, run.template_name, run.release_count
       from node_run run where run.id = $1 and run.state = 'held' for update`,
    [runId],
  );
  return run;
}

export interface Requeued {
  /** The attempts that ended by this. */
  readonly ended: readonly EndedAttempt[];
  /** The state of the run's node, afterwards. */
  readonly nodeState: NodeState;
}

/** The run's claim has ended in this transaction; queues it again (decisions, section 7). */
export async function requeueRun(
  tx: Tx,
  session: LockedSession,
  runId: string,
  how: Requeue,
): Promise<Requeued> {
  const run = await lockHeldRun(tx, runId);
  if (!run) return { ended: [], nodeState: 'Pending' };
  if (how.kind === 'lost') tx.onCommit(() => leaseLost(run.templateName));
  if (how.kind === 'lost' || run.cancelRequested) {
    const lost = { kind: 'lost', reason: how.kind === 'lost' ? (how.reason ?? null) : null } as const;
    const { ended, nodeState } = await endFailedAttempt(tx, session, run, lost, 0);
    return { ended: [ended], nodeState };
  }
  const releases = run.releaseCount + (how.kind === 'released' ? 1 : 0);
  const delayMs = how.kind === 'released' ? releaseDelayMs(releases) : 0;
  waitsFor(session, delayMs);
  const details = how.kind === 'released' && how.reason ? `Released: ${how.reason}` : null;
  await tx.query(
    `with run as (
       update node_run r
          set ${queuedAfter('$2::float8')}, release_count = $3, status_details = coalesce($4, status_details)
        where id = $1 returning node_instance_id, ${queuedColumns}
     ), node as (
       update node_instance set state = ${nodeStateCodes.Pending}, status_details = coalesce($4, status_details)
        where id = (select node_instance_id from run)
     )
     select ${notifyReady('run')} from run`,
    [runId, delayMs / 1_000, releases, details],
  );
  return { ended: [], nodeState: 'Pending' };
}

interface FailedAttempt {
  readonly ended: EndedAttempt;
  readonly end: AttemptEnd;
  /** The state of the run's node: `Pending` also when it got another run because this one is done. */
  readonly nodeState: NodeState;
}

/**
 * Ends an attempt that failed or was lost: its run is tried again, or is done and what follows from that is planned.
 * @param jitter a random number in [0, 1)
 */
export async function endFailedAttempt(
  tx: Tx,
  session: LockedSession,
  run: FailedRun,
  report: Exclude<AttemptReport, { kind: 'complete' }>,
  jitter: number,
): Promise<FailedAttempt> {
  const end = endAttempt(run, report, jitter);
  if (end.kind === 'retry')
    return { ended: await writeRetry(tx, session, run, end), end, nodeState: 'Pending' };
  const ended = await writeDone(tx, run, end);
  const queued = await planSession(tx, session, run.nodeInstanceId);
  return { ended, end, nodeState: queued.includes(run.nodeInstanceId) ? 'Pending' : end.nodeState };
}
