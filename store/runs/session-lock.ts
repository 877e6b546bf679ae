/**
 * A session under its row lock: every transaction that writes a fact about a session's graph goes through here.
 *
 * Lock order, everywhere: match key, session, node, run, attempt, claim, runner instance, output.
 * `FOR NO KEY UPDATE`, because plain `FOR UPDATE` would block every insert that refers to the session.
 */
import type { EndedAttempt, SessionLabel } from '../../domain/sessions/session-change.ts';
import { noteAuditedSession } from '../administration/audit-scope.ts';
import type { Tx } from '../connection/database.ts';

export interface LockedSession extends SessionLabel {
  readonly frozen: boolean;
  /** Taken with {@link nextPosition}. */
  newestPosition: number;
  /** The `createdAt` of all that this transaction publishes: never before that of an earlier publication. */
  readonly publishedAt: Date;
  /** Milliseconds since 1970 of the last queued run's rank. */
  fairRankMs: number;
  /** The database's clock when the lock was had, milliseconds since 1970. */
  readonly nowMs: number;
  readonly isClean: boolean;
  /** The session's workflow looks again by itself within a second or two. */
  readonly looksSoon: boolean;
  /** Set when a run of a built-in node was queued, which the workflow is to start at once. */
  builtinQueued: boolean;
}

type LockBy = 'session' | 'node' | 'task' | 'run';

const sessionIdBy: Record<LockBy, string> = {
  session: '$1::uuid',
  node: '(select n.session_id from node_instance n where n.id = $1::bigint)',
  task: '(select r.session_id from node_claim c join node_run r on r.id = c.run_id where c.task_id = $1::uuid)',
  run: '(select r.session_id from node_run r where r.id = $1::uuid)',
};

/** Of sessions whose newest publication is older than the column. */
const newestOutputAt = `(
             select max(o.created_at) from node_instance n join node_output o on o.id = n.newest_output_id
              where n.session_id = s.id)`;

function lockStatement(by: LockBy): string {
  return `
    select s.id as "sessionId", s.project_id as "projectId", t.name as "templateName",
           s.frozen_at is not null as frozen, s.newest_position as "newestPosition",
           date_trunc('milliseconds', greatest(clock_timestamp(), coalesce(s.newest_output_at, ${newestOutputAt})))
             as "publishedAt",
           case when s.fair_rank = '-infinity' then 0 else extract(epoch from s.fair_rank)::float8 * 1000 end as "fairRankMs",
           s.wanted_seq = s.advanced_seq as "isClean",
           coalesce(s.next_look_at > clock_timestamp(), false) as "looksSoon", false as "builtinQueued",
           extract(epoch from clock_timestamp())::float8 * 1000 as "nowMs"
      from session s join session_template t on t.id = s.session_template_id
     where s.id = ${sessionIdBy[by]}
       for no key update of s`;
}

const lockStatements: Record<LockBy, string> = {
  session: lockStatement('session'),
  node: lockStatement('node'),
  task: lockStatement('task'),
  run: lockStatement('run'),
};

/** Locks the session that the id belongs to; undefined when there is none. */
export async function lockSession(
  tx: Tx,
  by: LockBy,
  id: string | number,
): Promise<LockedSession | undefined> {
  const [row] = await tx.query<LockedSession>(lockStatements[by], [id]);
  if (row !== undefined) noteAuditedSession(row.sessionId);
  return row;
}

/**
 * The position of the next publication, whose time is `session.publishedAt`: along every list neither ever falls.
 * Written by {@link saveSession}.
 */
export function nextPosition(session: LockedSession): number {
  session.newestPosition += 1;
  return session.newestPosition;
}

const saveStatement = `
  with claim as (
    update node_claim set ending_reply = $5::jsonb where task_id = $4::uuid
  )
  update session
     set newest_output_at = case when newest_position < $2 then $6::timestamptz else newest_output_at end,
         newest_position = $2, fair_rank = to_timestamp($3::float8 / 1000), wanted_seq = wanted_seq + 1,
         wanted_at = case when wanted_seq = advanced_seq then clock_timestamp() else wanted_at end
   where id = $1`;

/**
 * Writes what the transaction took of the session's counters and marks it wanted; after the commit the session's workflow
 * is notified. The last statement before the commit.
 * @param answer what the ending of a task is answered with, kept for repeats of the same call
 */
export async function saveSession(
  tx: Tx,
  session: LockedSession,
  ended: readonly EndedAttempt[] = [],
  answer?: { readonly taskId: string; readonly reply: Record<string, unknown> },
): Promise<void> {
  void tx.ahead(saveStatement, [
    session.sessionId,
    session.newestPosition,
    session.fairRankMs,
    answer?.taskId ?? null,
    answer ? JSON.stringify(answer.reply) : null,
    session.publishedAt,
  ]);
  const wake = session.isClean && (session.builtinQueued || !session.looksSoon);
  tx.announce({ session: labelOf(session), wake, isUrgent: session.builtinQueued, ended });
}

export function labelOf(session: SessionLabel): SessionLabel {
  return { sessionId: session.sessionId, projectId: session.projectId, templateName: session.templateName };
}
