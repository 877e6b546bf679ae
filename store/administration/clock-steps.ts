/**
 * What was planned while the clock of the database was ahead. Without this it waits until the clock is there again: an hour
 * or a day: a delivery with all later ones of its session behind it, a retry, the task of a dead runner, a report.
 */
import type { Queryable } from '../connection/queryable.ts';
import { isOpen, prolonged } from '../runners/lease.ts';

/** A time of the past that is so far ahead: the clock was put back meanwhile. */
const ahead = `statement_timestamp() + interval '10 seconds'`;

const statements = [
  // No attempt is made again: its next one is made early.
  `update webhook_delivery d set due_at = clock_timestamp()
    where d.state = 'pending' and d.due_at > ${ahead}
      and greatest(d.created_at, (d.attempt_log -> -1 ->> 'at')::timestamptz) > ${ahead} returning 1`,
  `update node_run r set due_at = clock_timestamp()
    where r.state = 'waiting' and not r.frozen and r.due_at > ${ahead}
      and exists (select from node_attempt a where a.run_id = r.id and a.ended_at > ${ahead}) returning 1`,
  // Its holder would renew it, or has died.
  `update node_claim c set ${prolonged}
    where ${isOpen} and c.lease_until > ${ahead} + make_interval(secs => c.lease_seconds) returning 1`,
  // A file that is there already is not written again: each time of a schedule has one.
  `update report_schedule s set next_at = earlier.at
     from (select id, report_next_at(every, at_minute, weekday, month_day, time_zone, clock_timestamp()) as at
             from report_schedule where enabled and next_at > ${ahead}) earlier
    where s.id = earlier.id and s.enabled and s.next_at > earlier.at returning 1`,
  // The healer waits after each time that it has woken one.
  `update webhook set healed_at = '-infinity' where healed_at > ${ahead} returning 1`,
  `update report_schedule set healed_at = '-infinity' where healed_at > ${ahead} returning 1`,
  `update project set ingest_healed_at = '-infinity' where ingest_healed_at > ${ahead} returning 1`,
];

/** @returns how many rows waited for the earlier clock */
export async function planAgainAfterClockStep(database: Queryable): Promise<number> {
  let changed = 0;
  for (const statement of statements) changed += (await database.query(statement)).length;
  return changed;
}
