/** The database calls of the window workflows of shared sessions. */

import type { WindowEnd, WindowState } from '../../domain/sessions/shared-session.ts';
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

/** One reconcile of a session's window; later changes notify its workflow again. Undefined when the session is gone. */
export async function readWindowState(
  database: Database,
  sessionId: string,
): Promise<WindowState | undefined> {
  const [row] = await database.query<WindowRow>(
    `update session s set window_dirty_since = null, window_checked_at = clock_timestamp() where s.id = $1
     returning s.machine_group is not null as is_shared, s.window_start_at as start_at, s.window_end_at as end_at,
               s.closed_at, s.window_due_at as due_at,
               extract(epoch from s.window_due_at - clock_timestamp())::float8 * 1000 as due_in_ms`,
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

/** A separate statement: one that waited for the session's row would not see the participants who joined meanwhile. */
async function countParticipants(database: Database, sessionId: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    'select count(*) as count from session_participant where session_id = $1',
    [sessionId],
  );
  return row?.count ?? 0;
}

/**
 * Records that the time of an armed close, or the time after a window, is over, and notifies listeners of the close.
 */
export async function endWindow(database: Database, sessionId: string): Promise<WindowEnd> {
  const [row] = await database.query<{ isClosed: boolean }>(
    `with ended as (
       update session
          set window_due_at = null, window_dirty_since = null,
              close_ended_at = case when closed_at is not null then coalesce(close_ended_at, clock_timestamp()) end
        where id = $1 and window_due_at <= clock_timestamp()
       returning id, closed_at is not null as closed
     )
     select closed as is_closed, case when closed then pg_notify('${sessionClosedChannel}', id::text) end from ended`,
    [sessionId],
  );
  await failpoint('window-ended');
  if (row === undefined) return 'not-due';
  return row.isClosed ? 'closed' : 'over';
}
