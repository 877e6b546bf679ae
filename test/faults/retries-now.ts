import type { Database } from '../../store/connection/database.ts';
import { reconcileSession } from '../../store/runs/reconcile-session.ts';

/** Makes waiting retries due: as if their time had passed, and the session's workflow had reconciled. */
export async function retriesNow(database: Database): Promise<void> {
  const late = await database.query<{ sessionId: string }>(
    `update node_run set due_at = clock_timestamp() where state = 'waiting' returning session_id`,
  );
  for (const sessionId of new Set(late.map((run) => run.sessionId)))
    await reconcileSession(database, sessionId);
}
