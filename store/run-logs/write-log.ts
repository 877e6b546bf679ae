/** Writing the logs of attempts, the calls of many tasks in one statement. */
import { limits } from '../../domain/limits.ts';
import { leaseTimes } from '../../domain/runs/lease-times.ts';
import { levelBits } from '../../domain/runs/run-log.ts';
import type { Queryable } from '../connection/database.ts';
import type { TaskHolder } from '../runners/holder.ts';
import { isAlive, isOpen, leaseFromNow, renewed } from '../runners/lease.ts';
import { packEntries, type WrittenEntry } from './log-pieces.ts';

/** The entries of one call for a task. */
export interface LogCall extends TaskHolder {
  /** Rises from call to call of a task. */
  readonly sequence: number;
  readonly entries: readonly WrittenEntry[];
  /** What the entries count towards the limit of their attempt. */
  readonly bytes: number;
}

export interface LogReply {
  readonly nextSequence: number;
  /** The attempt has logged more than it may: entries were dropped. */
  readonly truncated: boolean;
}

/**
 * 1. `call`: the calls, of different tasks.
 * 2. `held`: those whose caller holds the task; `fits` when the attempt may still log so much.
 * 3. `renewal`: renews leases. A claim that is locked, because it ends or is renewed elsewhere, is passed over.
 * 4. `head`: a row for the attempt, with its sequence; none for a call whose sequence came before.
 * 5. `piece`: the entries.
 */
const writeStatement = `
  with call as materialized (
    select * from unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::int[], $6::int[], $7::smallint[],
                         $8::bytea[])
      as x (task_id, holder, instance_id, sequence, entries, bytes, levels, body)
  ), held as materialized (
    select call.*, c.run_id, c.attempt, coalesce(l.bytes, 0) + call.bytes <= ${limits.logAttemptBytes} as fits
      from call join node_claim c on c.task_id = call.task_id and c.holder = call.holder
                                 and c.instance_id = call.instance_id and ${isAlive}
      left join node_log l on l.run_id = c.run_id and l.attempt = c.attempt
  ), renewal as (
    update node_claim c set ${renewed}
     where c.task_id in (
       select c.task_id from node_claim c join held on held.task_id = c.task_id
        where ${isOpen}
          and (not c.used or c.lease_until < ${leaseFromNow(`c.lease_seconds - ${leaseTimes.logRenewAfterSeconds}`)})
        order by c.task_id for update of c skip locked)
  ), head as (
    insert into node_log as l (run_id, attempt, task_id, sequence, last_ms, bytes, dropped_entries)
    select run_id, attempt, task_id, sequence, floor(extract(epoch from clock_timestamp()) * 1000),
           case when fits then bytes else 0 end, case when fits then 0 else entries end
      from held order by run_id, attempt
    on conflict (run_id, attempt) do update
       set task_id = excluded.task_id, sequence = excluded.sequence,
           last_ms = greatest(excluded.last_ms, l.last_ms + 1),
           bytes = l.bytes + excluded.bytes, dropped_entries = l.dropped_entries + excluded.dropped_entries
     where l.task_id <> excluded.task_id or l.sequence < excluded.sequence
    returning run_id, attempt, task_id, sequence, last_ms, dropped_entries
  ), piece as (
    insert into node_log_piece (run_id, attempt, received_ms, entries, levels, body)
    select head.run_id, head.attempt, head.last_ms, held.entries, held.levels, held.body
      from head join held on held.task_id = head.task_id where held.fits
  )
  select held.task_id, coalesce(head.sequence, l.sequence, held.sequence) + 1 as next_sequence,
         coalesce(head.dropped_entries, l.dropped_entries, 0) > 0 as truncated
    from held left join head on head.task_id = held.task_id
    left join node_log l on l.run_id = held.run_id and l.attempt = held.attempt`;

/**
 * Stores the entries and renews the leases. A call whose sequence is not above the last of its task changes nothing.
 * @param calls at most one for a task
 * @returns replies by task id; none for a caller that does not hold its task
 */
export async function writeLogs(
  database: Queryable,
  calls: readonly LogCall[],
): Promise<ReadonlyMap<string, LogReply>> {
  const rows = await database.query<LogReply & { taskId: string }>(writeStatement, [
    calls.map(({ taskId }) => taskId),
    calls.map(({ holder }) => holder),
    calls.map(({ instanceId }) => instanceId),
    calls.map(({ sequence }) => sequence),
    calls.map(({ entries }) => entries.length),
    calls.map(({ bytes }) => bytes),
    calls.map(({ entries }) => levelBits(entries.map(({ level }) => level))),
    calls.map(({ entries }) => packEntries(entries)),
  ]);
  return new Map(
    rows.map(({ taskId, nextSequence, truncated }) => [taskId, { nextSequence, truncated }] as const),
  );
}

/** Removes the logs of attempts that began to log so long ago. @returns how many */
export async function removeOldLogs(database: Queryable, keptDays: number): Promise<number> {
  for (let removed = 0; ; ) {
    const batch = await database.query(
      `delete from node_log where (run_id, attempt) in (
         select run_id, attempt from node_log
          where created_at < statement_timestamp() - make_interval(days => $1) limit 100)
       returning 1`,
      [keptDays],
    );
    removed += batch.length;
    if (batch.length === 0) return removed;
  }
}
