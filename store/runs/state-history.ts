/** The state of a node as a claim found it. It is saved once the claim's task changes it, and not at each claim. */
import type { Queryable, Tx } from '../connection/database.ts';

/** To be called in the transaction that overwrites the state, before it does. The claim is locked. */
export async function saveStateBefore(tx: Tx, taskId: string): Promise<void> {
  await tx.query(
    `update node_claim c set state_before = coalesce(n.runner_state, 'null')
       from node_run r join node_instance n on n.id = r.node_instance_id
      where c.task_id = $1 and c.state_before is null and r.id = c.run_id`,
    [taskId],
  );
}

/** The state that stood when the claim was made: the first claim since then that changed it knows; else it still stands. */
export async function stateAtClaim(
  database: Queryable,
  nodeInstanceId: number,
  claimedAt: Date,
): Promise<Record<string, unknown> | null> {
  const [row] = await database.query<{ state: Record<string, unknown> | null }>(
    `select coalesce(
              (select c.state_before from node_claim c join node_run r on r.id = c.run_id
                where r.node_instance_id = $1 and c.claimed_at >= $2 and c.state_before is not null
                order by c.claimed_at limit 1),
              n.runner_state) as state
       from node_instance n where n.id = $1`,
    [nodeInstanceId, claimedAt],
  );
  return row?.state ?? null;
}
