/**
 * Freezing a session: nothing new comes in and no task of it is claimed, until it is unfrozen (decisions 5). Tasks that
 * are held may finish.
 */

import type { RunState } from '../../domain/runs/run-plan.ts';
import type { Database, Tx } from '../connection/database.ts';
import {
  changed,
  changeSession,
  type LockedSession,
  noteQueued,
  unchanged,
  waitsFor,
} from '../runs/change-session.ts';
import { notifyReady, queuedColumns } from '../runs/queue.ts';
import { planWhole } from '../runs/reconcile-session.ts';

/** Idempotent. Undefined when there is no such session. */
export async function freezeSession(
  database: Database,
  sessionId: string,
): Promise<'changed' | 'unchanged' | undefined> {
  return changeSession<'changed' | 'unchanged'>(database, { sessionId }, async (tx, session) => {
    if (session.frozen) return unchanged('unchanged');
    await tx.query(
      `with session as (update session set frozen_at = clock_timestamp() where id = $1)
       update node_run set frozen = true where session_id = $1 and state <> 'done'`,
      [sessionId],
    );
    return changed('changed');
  });
}

/** Unfreezes the session: its runs may be claimed, and those that fell due are queued, in the same transaction. Idempotent. */
export async function unfreezeSession(
  database: Database,
  sessionId: string,
): Promise<'changed' | 'unchanged' | undefined> {
  return changeSession<'changed' | 'unchanged'>(database, { sessionId }, async (tx, session) => {
    if (!session.frozen) return unchanged('unchanged');
    await thawRuns(tx, session);
    await planWhole(tx, session);
    return changed('changed');
  });
}

async function thawRuns(tx: Tx, session: LockedSession): Promise<void> {
  const thawed = await tx.query<{ runnerType: string; state: RunState; dueInMs: number }>(
    `with session as (update session set frozen_at = null where id = $1), thawed as (
       update node_run r set frozen = false where session_id = $1 and state <> 'done'
       returning ${queuedColumns}, extract(epoch from r.due_at - clock_timestamp())::float8 * 1000 as due_in_ms
     )
     select ${notifyReady('thawed')}, runner_type, state, due_in_ms from thawed`,
    [session.sessionId],
  );
  session.frozen = false;
  // While it was frozen its workflow neither started these nor kept their timers.
  for (const { runnerType, state, dueInMs } of thawed) {
    const isDue = state === 'queued' || (state === 'waiting' && dueInMs <= 0);
    if (isDue) noteQueued(session, runnerType);
    if (state === 'waiting') waitsFor(session, dueInMs);
  }
}

/** Whether the run waits because its session is frozen. */
export async function isRunFrozen(database: Database, runId: string): Promise<boolean> {
  const rows = await database.query(
    `select 1 from node_run where id = $1 and frozen and state in ('queued', 'waiting')`,
    [runId],
  );
  return rows.length > 0;
}
