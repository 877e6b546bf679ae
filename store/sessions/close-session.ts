/**
 * Closing a session, once: the result is stored in its row, and every repeat gets it (contract: Close; decisions 6).
 */
import { isSamePerson, type Person } from '../../domain/sessions/participant.ts';
import type { SessionLabel } from '../../domain/sessions/session-change.ts';
import { isCloseTime } from '../../domain/sessions/shared-session.ts';
import type { Database, Tx } from '../connection/database.ts';
import { failpoint } from '../connection/failpoint.ts';
import { type HeldSession, holdSession, labelOf } from '../runs/change-session.ts';

/** The channel on which the end of a session is announced when its close falls due; the payload is its id. */
export const sessionClosedChannel = 'session_closed';

export interface CloseRequest {
  readonly sessionId: string;
  /** The closing person, already resolved. */
  readonly person: Person;
  /** The person need not be a participant. */
  readonly mayCloseAny: boolean;
  readonly reason: string | null;
  /** Null: now. */
  readonly closeAt: Date | null;
}

interface ClosedSession {
  readonly participantCount: number;
  readonly closedAt: Date;
  /** An identifier. */
  readonly closedBy: string;
}

export type CloseResult =
  | {
      readonly outcome: 'closed';
      readonly closed: ClosedSession;
      /** The session whose window workflow must be notified, if any. */
      readonly notifyWindow: SessionLabel | undefined;
    }
  | { readonly outcome: 'missing' | 'not-a-participant' | 'time-out-of-range' };

interface ClosingSession {
  readonly isShared: boolean;
  readonly startsAt: Date;
  readonly emailIdentifier: string;
  readonly emailKey: string;
  readonly closedAt: Date | null;
  readonly closedBy: string | null;
  readonly closedParticipants: number | null;
  readonly participants: number;
  readonly isAmongParticipants: boolean;
}

/** Closes the session in one transaction, or returns how it was closed before. */
export async function closeSession(database: Database, request: CloseRequest): Promise<CloseResult> {
  const result = await holdSession(database, { sessionId: request.sessionId }, (tx, held) =>
    closeHeld(tx, held, request),
  );
  await failpoint('close-committed');
  return result ?? { outcome: 'missing' };
}

async function closeHeld(tx: Tx, held: HeldSession, request: CloseRequest): Promise<CloseResult> {
  const session = await readClosing(tx, request);
  if (!session) return { outcome: 'missing' };
  const { closedAt, closedBy, closedParticipants } = session;
  if (!request.mayCloseAny && !mayClose(session, request.person)) return { outcome: 'not-a-participant' };
  if (closedAt !== null && closedBy !== null) {
    const closed = { closedAt, closedBy, participantCount: closedParticipants ?? 0 };
    return { outcome: 'closed', closed, notifyWindow: undefined };
  }
  if (request.closeAt !== null && !isCloseTime(request.closeAt, session.startsAt, held.nowMs)) {
    return { outcome: 'time-out-of-range' };
  }
  const { closed, isWindowWaiting } = await writeClose(tx, request, session.participants);
  return { outcome: 'closed', closed, notifyWindow: isWindowWaiting ? labelOf(held) : undefined };
}

async function readClosing(tx: Tx, { sessionId, person }: CloseRequest): Promise<ClosingSession | undefined> {
  const [row] = await tx.query<ClosingSession>(
    `select s.machine_group is not null as is_shared, coalesce(s.window_start_at, s.created_at) as starts_at,
            s.email_identifier, s.email_key, s.closed_at,
            s.closed_by, s.closed_participants,
            case when s.machine_group is null then 1 else count(p.id) end as participants,
            coalesce(bool_or(p.identifier = $2 or p.key = $3), false) as is_among_participants
       from session s left join session_participant p on p.session_id = s.id
      where s.id = $1 group by s.id`,
    [sessionId, person.identifier, person.key],
  );
  return row;
}

function mayClose(session: ClosingSession, person: Person): boolean {
  if (session.isShared) return session.isAmongParticipants;
  return isSamePerson({ identifier: session.emailIdentifier, key: session.emailKey }, person);
}

/** A close in the future is armed: its window workflow waits for the time. Any other falls due with the commit. */
async function writeClose(
  tx: Tx,
  { sessionId, person, reason, closeAt }: CloseRequest,
  participantCount: number,
): Promise<{ closed: ClosedSession; isWindowWaiting: boolean }> {
  const [row] = await tx.query<{ closedAt: Date; isWindowWaiting: boolean }>(
    `with time as materialized (
       select clock_timestamp() as now, coalesce($2::timestamptz, date_trunc('milliseconds', clock_timestamp())) as close_at
     ), announced as materialized (
       select pg_notify('${sessionClosedChannel}', $1::text) from time where close_at <= now
     )
     update session s
        set closed_at = time.close_at, closed_by = $3, close_reason = $4, closed_participants = $5,
            close_ended_at = case when time.close_at <= time.now then time.now end,
            window_due_at = case when time.close_at > time.now then time.close_at end,
            window_dirty_since = case when time.close_at > time.now or s.window_due_at is not null
                                    then coalesce(s.window_dirty_since, time.now) end
       from time left join announced on true
      where s.id = $1::uuid
     returning s.closed_at, s.window_dirty_since is not null as is_window_waiting`,
    [sessionId, closeAt, person.identifier, reason, participantCount],
  );
  if (row === undefined) throw new Error(`Session ${sessionId} no longer exists, although it is locked.`);
  const { closedAt, isWindowWaiting } = row;
  return { closed: { participantCount, closedAt, closedBy: person.identifier }, isWindowWaiting };
}
