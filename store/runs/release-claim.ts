/** Claims that end without an outcome: released by a newer claim, undone, or held by a token that has ended. */
import { claimedAgain } from '../../domain/runs/run-plan.ts';
import type { Database } from '../connection/database.ts';
import type { RunnerIdentity } from '../runners/holder.ts';
import { endClaim, isOpen } from '../runners/lease.ts';
import { changed, changeSession, unchanged } from './change-session.ts';
import { requeueRun } from './requeue-run.ts';

/**
 * Releases what the instance still holds, because it claims again (interface, runner rule 2). Counts as a lost lease
 * unless no call for the task was ever made.
 * @returns whether it held something
 */
export async function releaseHeldTask(database: Database, identity: RunnerIdentity): Promise<boolean> {
  const [held] = await database.query<{ taskId: string }>(
    `select task_id from node_claim c where c.holder = $1 and c.instance_id = $2 and ${isOpen}`,
    [identity.holder, identity.instanceId],
  );
  return held !== undefined && (await endClaimAndRequeue(database, held.taskId, 'given-up'));
}

/**
 * Undoes a claim whose reply could not be written, as if it had never been made. One that a second reply has delivered
 * stays.
 */
export async function undoClaim(database: Database, taskId: string): Promise<boolean> {
  return endClaimAndRequeue(database, taskId, 'undone', `${isOpen} and not c.redelivered`);
}

/** Releases what a token held and may no longer hold. Does not count as a lost lease. */
export async function requeueTask(database: Database, taskId: string): Promise<boolean> {
  return endClaimAndRequeue(database, taskId, 'token-ended');
}

/** @returns false when the claim had ended */
async function endClaimAndRequeue(
  database: Database,
  taskId: string,
  ending: 'given-up' | 'undone' | 'token-ended',
  condition = isOpen,
): Promise<boolean> {
  const hasEnded = await changeSession(database, { taskId }, async (tx, session) => {
    const [claim] = await tx.query<{ runId: string; used: boolean; lostReason: string | null }>(
      `${endClaim('ending = $2', condition)} select run_id, used, lost_reason from ended`,
      [taskId, ending],
    );
    if (!claim) return unchanged(false);
    const counts = ending === 'given-up' && claim.used;
    const { ended } = await requeueRun(
      tx,
      session,
      claim.runId,
      counts ? { kind: 'lost', reason: claim.lostReason ?? claimedAgain } : { kind: 'unused' },
    );
    return changed(true, ended);
  });
  return hasEnded ?? false;
}
