/** Putting a run back into the queue when its claim ended without an outcome. */
import { nodeStateCodes } from '../../domain/runs/node-state.ts';
import { endAttempt, releaseDelayMs } from '../../domain/runs/run-plan.ts';
import type { EndedAttempt } from '../../domain/sessions/session-change.ts';
import { leaseLost } from '../../telemetry/metrics.ts';
import type { Tx } from '../connection/database.ts';
import { type LockedSession, waitsFor } from './change-session.ts';
import { planSession } from './plan-session.ts';
import { notifyReady, queuedAfter, queuedColumns } from './queue.ts';
import { writeDone, writeRetry } from './write-run-outcome.ts';

export type Requeue =
  /** The claim was never used, as if it had not been made. */
  | { readonly kind: 'unused' }
  /** The holder released it, and may have said why; waits from the third time on. */
  | { readonly kind: 'released'; readonly reason?: string | undefined }
  /** The lease ended: counts as an attempt. */
  | { readonly kind: 'lost' };

interface RequeuedRun {
  readonly runId: string;
  readonly templateName: string;
  readonly nodeInstanceId: number;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly firstAttempt: number;
  readonly lostCount: number;
  readonly releaseCount: number;
  readonly cancelRequested: boolean;
}

/**
 * The run's claim has ended in this transaction; queues it again (decisions, section 7).
 * @returns the attempts that ended by this
 */
export async function requeueRun(
  tx: Tx,
  session: LockedSession,
  runId: string,
  how: Requeue,
): Promise<EndedAttempt[]> {
  const [run] = await tx.query<RequeuedRun>(
    `select id as run_id, template_name, node_instance_id, attempt,
            max_attempts, first_attempt, lost_count, release_count, cancel_requested
       from node_run where id = $1 and state = 'held' for update`,
    [runId],
  );
  if (!run) return [];
  if (how.kind === 'lost') tx.onCommit(() => leaseLost(run.templateName));
  if (how.kind === 'lost' || run.cancelRequested) return [await endLost(tx, session, run)];
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
  return [];
}

async function endLost(tx: Tx, session: LockedSession, run: RequeuedRun): Promise<EndedAttempt> {
  const end = endAttempt(run, { kind: 'lost' }, 0);
  if (end.kind === 'retry') return writeRetry(tx, session, run, end, 'lost');
  const ended = await writeDone(tx, run, end);
  await planSession(tx, session, run.nodeInstanceId);
  return ended;
}
