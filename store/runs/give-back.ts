/** Claims that end without an outcome: given up by a further claim, undone, or of a token that has ended. */
import type { Database, Tx } from '../connection/database.ts';
import type { RunnerIdentity } from './claims.ts';
import { requeueRun } from './requeue-run.ts';
import { lockSession, saveSession } from './session-lock.ts';

/**
 * Gives up what the instance still holds, because it claims again (interface, runner rule 2).
 * Counts as a lost lease unless no call for the task was ever made.
 * @returns whether it held something
 */
export async function giveUpHeldTask(database: Database, identity: RunnerIdentity): Promise<boolean> {
  return database.transaction(async (tx) => {
    const [held] = await tx.query<{ taskId: string }>(
      `select task_id as "taskId" from node_claim where holder = $1 and instance_id = $2 and ended_at is null`,
      [identity.holder, identity.instanceId],
    );
    return held !== undefined && (await endClaimAndRequeue(tx, held.taskId, 'given-up'));
  });
}

/** Takes a claim back whose reply could not be written: as if it had never been made. */
export async function undoClaim(database: Database, taskId: string): Promise<boolean> {
  return database.transaction((tx) => endClaimAndRequeue(tx, taskId, 'undone'));
}

/** Gives back what a token held that is no longer to hold it. Counts as nothing. */
export async function giveBackTask(database: Database, taskId: string): Promise<boolean> {
  return database.transaction((tx) => endClaimAndRequeue(tx, taskId, 'token-ended'));
}

/** @returns false when the claim had ended */
async function endClaimAndRequeue(
  tx: Tx,
  taskId: string,
  ending: 'given-up' | 'undone' | 'token-ended',
): Promise<boolean> {
  const session = await lockSession(tx, 'task', taskId);
  if (!session) return false;
  const [claim] = await tx.query<{ runId: string; used: boolean }>(
    `with run as materialized (
       select r.id from node_run r
        where r.id = (select c.run_id from node_claim c where c.task_id = $1) for update
     )
     update node_claim c set ended_at = clock_timestamp(), ending = $2 from run
      where c.task_id = $1 and c.run_id = run.id and c.ended_at is null
      returning c.run_id as "runId", c.used`,
    [taskId, ending],
  );
  if (!claim) return false;
  const counts = ending === 'given-up' && claim.used;
  const ended = await requeueRun(tx, session, claim.runId, counts ? { kind: 'lost' } : { kind: 'unused' });
  await saveSession(tx, session, ended);
  return true;
}
