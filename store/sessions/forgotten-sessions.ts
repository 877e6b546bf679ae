/** Sessions that the healer is to have looked at: nobody told their workflow, or somebody ended it from outside. */

import type { SessionLabel } from '../../domain/sessions/session-change.ts';
import type { Database } from '../connection/database.ts';

/** A session that nobody seems to look at. */
export interface ForgottenSession extends SessionLabel {
  /** How long it has been wanted and not advanced; 0 when it is advanced. */
  readonly wantedForSeconds: number;
}

/** Stands in each search, so that sessions which are to be left alone take nobody's place. $4: seconds between two looks. */
const mayBeHealed = `
  s.frozen_at is null and s.healed_at < clock_timestamp() - make_interval(secs => $4)`;

/**
 * Takes sessions that somebody must look at: wanted but not advanced, retries overdue, and built-in runs that stay
 * queued although a worker should have them. Each is taken at most once in `waits.againSeconds`.
 */
export async function takeForgottenSessions(
  database: Database,
  waits: { wantedSeconds: number; dueSeconds: number; builtinSeconds: number; againSeconds: number },
  limit: number,
): Promise<ForgottenSession[]> {
  return database.query<ForgottenSession>(
    `with forgotten as (
        (select s.id from session s where s.wanted_seq > s.advanced_seq
            and s.wanted_at < clock_timestamp() - make_interval(secs => $1) and ${mayBeHealed}
          order by s.wanted_at limit $5)
        union
        (select r.session_id from node_run r join session s on s.id = r.session_id
          where r.state = 'waiting' and not r.frozen
            and r.due_at < clock_timestamp() - make_interval(secs => $2) and ${mayBeHealed}
          order by r.due_at limit $5)
        union
        (select r.session_id from node_run r join session s on s.id = r.session_id
          where r.state = 'queued' and not r.frozen and r.runner_type = 'system'
            and r.fair_rank < clock_timestamp() - make_interval(secs => $3) and ${mayBeHealed}
          order by r.fair_rank limit $5)
     ), picked as (
       select s.id from session s where s.id in (select id from forgotten) and ${mayBeHealed}
        limit $5 for no key update skip locked
     )
     update session s set healed_at = clock_timestamp() from picked, session_template t
      where s.id = picked.id and t.id = s.session_template_id
      returning s.id as "sessionId", s.project_id as "projectId", t.name as "templateName",
                case when s.wanted_seq > s.advanced_seq
                     then extract(epoch from clock_timestamp() - s.wanted_at)::float8 else 0 end as "wantedForSeconds"`,
    [waits.wantedSeconds, waits.dueSeconds, waits.builtinSeconds, waits.againSeconds, limit],
  );
}

/**
 * Sessions with open runs whose workflow nobody has checked for `seconds`; marks them checked.
 * A workflow that somebody ended from outside is found this way.
 */
export async function takeUncheckedSessions(
  database: Database,
  seconds: number,
  limit: number,
): Promise<SessionLabel[]> {
  return database.query<SessionLabel>(
    `with picked as (
       select s.id from session s
        where s.checked_at < clock_timestamp() - make_interval(secs => $1) and s.frozen_at is null
          and exists (select 1 from node_run r where r.session_id = s.id and r.state <> 'done')
        order by s.checked_at limit $2 for no key update skip locked
     )
     update session s set checked_at = clock_timestamp() from picked, session_template t
      where s.id = picked.id and t.id = s.session_template_id
      returning s.id as "sessionId", s.project_id as "projectId", t.name as "templateName"`,
    [seconds, limit],
  );
}
