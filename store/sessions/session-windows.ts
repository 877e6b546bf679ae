/** What the window workflows of shared sessions, and the healer that watches over them, ask of the database. */

import type { SessionLabel } from '../../domain/sessions/session-change.ts';
import type { WindowEnd, WindowLook } from '../../domain/sessions/shared-session.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import type { Database } from '../connection/database.ts';
import { failpoint } from '../connection/failpoint.ts';
import { sessionClosedChannel } from './close-session.ts';

interface WindowRow {
  readonly isShared: boolean;
  readonly startAt: Date | null;
  readonly endAt: Date | null;
  readonly closedAt: Date | null;
  readonly dueAt: Date | null;
  readonly dueInMs: number | null;
}

/** One look at a session's window; from now on its changes are told anew. Undefined when the session is gone. */
export async function lookAtWindow(database: Database, sessionId: string): Promise<WindowLook | undefined> {
  const [row] = await database.query<WindowRow>(
    `update session s set window_wanted_at = null, window_checked_at = clock_timestamp() where s.id = $1
     returning s.machine_group is not null as "isShared", s.window_start_at as "startAt", s.window_end_at as "endAt",
               s.closed_at as "closedAt", s.window_due_at as "dueAt",
               extract(epoch from s.window_due_at - clock_timestamp())::float8 * 1000 as "dueInMs"`,
    [sessionId],
  );
  if (row === undefined) return undefined;
  const { startAt, endAt, closedAt, dueAt } = row;
  return {
    participants: row.isShared ? await countParticipants(database, sessionId) : 1,
    window: startAt && endAt ? `${formatTimestamp(startAt)}/${endAt.toISOString()}` : null,
    closesAt: closedAt && formatTimestamp(closedAt),
    dueAt: dueAt?.toISOString() ?? null,
    dueInMs: Math.max(0, Math.ceil(row.dueInMs ?? 0)),
  };
}

/** A statement of its own: one that waited for the session's row would not see those whose join it waited for. */
async function countParticipants(database: Database, sessionId: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    'select count(*) as count from session_participant where session_id = $1',
    [sessionId],
  );
  return row?.count ?? 0;
}

/** Records that the time of an armed close, or the time after a window, is over, and tells listeners of the close. */
export async function endWindow(database: Database, sessionId: string): Promise<WindowEnd> {
  const [row] = await database.query<{ isClosed: boolean }>(
    `with ended as (
       update session
          set window_due_at = null, window_wanted_at = null,
              close_ended_at = case when closed_at is not null then coalesce(close_ended_at, clock_timestamp()) end
        where id = $1 and window_due_at <= clock_timestamp()
       returning id, closed_at is not null as closed
     )
     select closed as "isClosed", case when closed then pg_notify('${sessionClosedChannel}', id::text) end from ended`,
    [sessionId],
  );
  await failpoint('window-ended');
  if (row === undefined) return 'not-due';
  return row.isClosed ? 'closed' : 'over';
}

/** A window whose workflow did not act or look in time. */
export interface LateWindow extends SessionLabel {
  /** How long it has been late. */
  readonly lateForSeconds: number;
}

/**
 * Takes windows that are past their time, or whose changes nobody looked at, for more than `lateSeconds`. Each is taken
 * at most once in `againSeconds`.
 */
export async function takeLateWindows(
  database: Database,
  waits: { lateSeconds: number; againSeconds: number },
  limit: number,
): Promise<LateWindow[]> {
  return database.query<LateWindow>(
    `with late as (
        (select id from session where window_due_at < clock_timestamp() - make_interval(secs => $1)
          order by window_due_at limit $3)
        union
        (select id from session where window_wanted_at < clock_timestamp() - make_interval(secs => $1)
          order by window_wanted_at limit $3)
     ), picked as (
       select s.id from session s
        where s.id in (select id from late) and s.window_checked_at < clock_timestamp() - make_interval(secs => $2)
        limit $3 for no key update skip locked
     )
     update session s set window_checked_at = clock_timestamp() from picked, session_template t
      where s.id = picked.id and t.id = s.session_template_id
      returning s.id as "sessionId", s.project_id as "projectId", t.name as "templateName",
                extract(epoch from clock_timestamp() - least(s.window_due_at, s.window_wanted_at))::float8 as "lateForSeconds"`,
    [waits.lateSeconds, waits.againSeconds, limit],
  );
}

/** Windows that wait for a time and whose workflow nobody has checked for `seconds`; marks them checked. */
export async function takeUncheckedWindows(
  database: Database,
  seconds: number,
  limit: number,
): Promise<SessionLabel[]> {
  return database.query<SessionLabel>(
    `with picked as (
       select s.id from session s
        where s.window_due_at is not null and s.window_checked_at < clock_timestamp() - make_interval(secs => $1)
        order by s.window_checked_at limit $2 for no key update skip locked
     )
     update session s set window_checked_at = clock_timestamp() from picked, session_template t
      where s.id = picked.id and t.id = s.session_template_id
      returning s.id as "sessionId", s.project_id as "projectId", t.name as "templateName"`,
    [seconds, limit],
  );
}
