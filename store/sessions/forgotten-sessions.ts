/**
 * Sessions that the healer is to have reconciled: no notification reached their workflow, or that of their window, or
 * it was ended from outside. Several healers may search at once; each session is acquired by one.
 */

import type { SessionLabel } from '../../domain/sessions/session-change.ts';
import type { Database } from '../connection/database.ts';
import { isBuiltin, isClaimable } from '../runs/queue.ts';

/** A session whose workflow, or that of its window, did not act or reconcile in time. */
interface LateSession extends SessionLabel {
  readonly lateForSeconds: number;
}

/** The column that holds the time at which a session was acquired. */
type AcquiredAt = 'healed_at' | 'checked_at' | 'window_checked_at';

/**
 * Acquires sessions `s` that no other process is acquiring, and marks them.
 * @param picked what follows `from session s where`, with a limit
 * @param before a step that `picked` uses
 * @param facts further columns of the step `picked`
 * @param columns besides the session's label
 * @param pauseSeconds an SQL expression: how much longer than others the session is not acquired again
 */
function acquireStatement(
  acquiredAt: AcquiredAt,
  picked: string,
  {
    before = '',
    facts = '',
    columns = '',
    pauseSeconds = '0',
  }: { before?: string; facts?: string; columns?: string; pauseSeconds?: string } = {},
): string {
  return `
    with ${before && `${before},`} picked as (
      select s.id${facts && `, ${facts}`} from session s where ${picked} for no key update skip locked
    )
    update session s set ${acquiredAt} = clock_timestamp() + make_interval(secs => ${pauseSeconds})
      from picked, session_template t
     where s.id = picked.id and t.id = s.session_template_id
    returning s.id as session_id, s.project_id, t.name as template_name${columns && `, ${columns}`}`;
}

const isOlder = (column: string, seconds: string) =>
  `${column} < statement_timestamp() - make_interval(secs => ${seconds})`;

/**
 * Part of each search, so that sessions to be skipped do not use up its limit. $4: seconds between two. $6: the most between
 * two; a time that is further ahead is from before the clock was put back.
 */
const mayBeHealed = `s.frozen_at is null and (${isOlder('s.healed_at', '$4')}
  or s.healed_at > statement_timestamp() + make_interval(secs => $6))`;

/** Of `session s`: its workflow awaits a built-in run that is queued. */
const awaitsQueued = `exists (
  select from node_run r join node_attempt a on a.run_id = r.id and a.number = r.attempt
   where r.session_id = s.id and ${isClaimable} and ${isBuiltin('r')} and a.awaited)`;

/** Since when its workflow should have observed the session's desired version: it may reconcile later by itself. Of `session s` */
export const dueSinceSql = 'greatest(s.dirty_since, s.next_reconcile_at)';

const forgottenStatement = acquireStatement(
  'healed_at',
  `s.id in (select id from forgotten) and ${mayBeHealed} limit $5`,
  {
    before: `forgotten as (
        (select s.id, ${dueSinceSql} as since, false as is_queue from session s where s.desired_version > s.observed_version
            and ${isOlder('s.dirty_since', '$1')} and ${isOlder(dueSinceSql, '$1')} and ${mayBeHealed}
          order by s.dirty_since limit $5)
        union all
        (select r.session_id, r.due_at, false from node_run r join session s on s.id = r.session_id
          where r.state = 'waiting' and not r.frozen and ${isOlder('r.due_at', '$2')} and ${mayBeHealed}
          order by r.due_at limit $5)
        union all
        (select r.session_id, r.queue_time, true from node_run r join session s on s.id = r.session_id
          where ${isClaimable}
            and r.template_name = any (array(select t.name from node_template t where ${isBuiltin('t')}))
            and ${isOlder('r.queue_time', '$3')} and ${mayBeHealed}
          order by r.queue_time limit $5))`,
    facts: `(select bool_and(f.is_queue) from forgotten f where f.id = s.id) and ${awaitsQueued} as is_in_queue`,
    columns: `(select least(extract(epoch from clock_timestamp() - min(f.since))::float8,
                            case when picked.is_in_queue then $6 end)
                 from forgotten f where f.id = s.id) as late_for_seconds`,
    pauseSeconds: 'case when picked.is_in_queue then greatest($6 - $4, 0) else 0 end',
  },
);

/**
 * Sessions that must be reconciled: desired version not observed, retries overdue, and built-in runs that stay queued
 * although a worker should have them. Each is acquired at most once in `waits.againSeconds`, or in `waits.awaitedSeconds` when
 * its workflow awaits such a run: most likely it is the queue that is long, thousands of notifications for nothing would keep
 * the engine from what is due, and a workflow that is slow then is not late.
 */
export async function acquireForgottenSessions(
  database: Database,
  waits: {
    dirtySeconds: number;
    dueSeconds: number;
    builtinSeconds: number;
    awaitedSeconds: number;
    againSeconds: number;
  },
  limit: number,
): Promise<LateSession[]> {
  return database.query<LateSession>(forgottenStatement, [
    waits.dirtySeconds,
    waits.dueSeconds,
    waits.builtinSeconds,
    waits.againSeconds,
    limit,
    waits.awaitedSeconds,
  ]);
}

const uncheckedStatement = acquireStatement(
  'checked_at',
  // First the open runs, by their index: they are fewer than the sessions.
  `s.id = any (array(select distinct r.session_id from node_run r where r.state <> 'done'))
     and ${isOlder('s.checked_at', '$1')} and s.frozen_at is null
   order by s.checked_at limit $2`,
);

/** Sessions with open runs whose workflow was not checked for `seconds`: one that was ended from outside is found this way. */
export async function acquireUncheckedSessions(
  database: Database,
  seconds: number,
  limit: number,
): Promise<SessionLabel[]> {
  return database.query<SessionLabel>(uncheckedStatement, [seconds, limit]);
}

const lateStatement = acquireStatement(
  'window_checked_at',
  `s.id in (select id from late) and ${isOlder('s.window_checked_at', '$2')} limit $3`,
  {
    before: `late as (
        (select id from session where ${isOlder('window_due_at', '$1')} order by window_due_at limit $3)
        union
        (select id from session where ${isOlder('window_dirty_since', '$1')} order by window_dirty_since limit $3))`,
    columns: `extract(epoch from clock_timestamp() - least(s.window_due_at, s.window_dirty_since))::float8
                as late_for_seconds`,
  },
);

/**
 * Windows that are past their time, or whose changes their workflow has not seen, for more than `lateSeconds`. Each is
 * acquired at most once in `againSeconds`.
 */
export async function acquireLateWindows(
  database: Database,
  waits: { lateSeconds: number; againSeconds: number },
  limit: number,
): Promise<LateSession[]> {
  return database.query<LateSession>(lateStatement, [waits.lateSeconds, waits.againSeconds, limit]);
}

const uncheckedWindowStatement = acquireStatement(
  'window_checked_at',
  `s.window_due_at is not null and ${isOlder('s.window_checked_at', '$1')} order by s.window_checked_at limit $2`,
);

/** Windows that wait for a time and whose workflow was not checked for `seconds`. */
export async function acquireUncheckedWindows(
  database: Database,
  seconds: number,
  limit: number,
): Promise<SessionLabel[]> {
  return database.query<SessionLabel>(uncheckedWindowStatement, [seconds, limit]);
}
