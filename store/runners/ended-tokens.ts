/** Runner tokens that ended: what they still hold, and when their rows are removed. */
import { limits } from '../../domain/limits.ts';
import type { Queryable } from '../connection/database.ts';
import { holderOfToken } from './holder.ts';
import { isOpen } from './lease.ts';

/** A statement that saw the token alive has ended by then. */
const settleAfter = "interval '2 minutes'";
const unsettledEnd = 'not k.settled and least(k.expires_at, k.revoked_at)';

/** A task that is still held with a token that may no longer hold it. */
export interface EndedTask {
  readonly taskId: string;
  readonly sessionId: string;
}

/** Held tasks of tokens that ended, or whose creators' present role does not reach them. */
export async function listTasksOfEndedTokens(database: Queryable, limit: number): Promise<EndedTask[]> {
  return database.query<EndedTask>(
    // No join: planned while nothing was held, it would read all runs, each second.
    `select c.task_id, (select r.session_id from node_run r where r.id = c.run_id) as session_id
       from runner_token k join node_claim c on c.holder = ${holderOfToken('k.id')} and ${isOpen}
      where ${unsettledEnd} <= clock_timestamp()
     union all
     select c.task_id, r.session_id
       from runner_token_creator p join runner_token k on k.created_by = p.user_id
       join node_claim c on c.holder = ${holderOfToken('k.id')} and ${isOpen}
       join node_run r on r.id = c.run_id join runner_type t on t.name = r.runner_type
      where p.narrowed_at > clock_timestamp() - interval '10 minutes' and k.revoked_at is null
        and p.role is distinct from 'Administrator'
        and (p.role is distinct from 'Developer' or t.runtime <> 'external')
     limit $1`,
    [limit],
  );
}

/** Marks tokens that ended a while ago and hold nothing, so that later checks skip them. */
export async function settleEndedTokens(database: Queryable): Promise<void> {
  await database.query(
    `update runner_token set settled = true
      where id in (
        select k.id from runner_token k
         where ${unsettledEnd} <= clock_timestamp() - ${settleAfter}
           and not exists (select from node_claim c where c.holder = ${holderOfToken('k.id')} and ${isOpen})
           for update skip locked)`,
  );
}

/** Removes tokens that ended long ago, and what is known of creators without tokens. @returns how many tokens */
export async function sweepRunnerTokens(database: Queryable): Promise<number> {
  const rows = await database.query(
    `delete from runner_token k
      where k.settled and least(k.expires_at, k.revoked_at) < clock_timestamp() - interval '${limits.runnerTokenKeptDays} days'
      returning 1`,
  );
  await database.query(
    `delete from runner_token_creator c
      where c.asked_at < clock_timestamp() - interval '1 day'
        and not exists (select from runner_token k where k.created_by = c.user_id)`,
  );
  return rows.length;
}
