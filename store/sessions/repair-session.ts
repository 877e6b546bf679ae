/** Planning a whole session at an operator's request: what its workflow does in a reconcile, without waiting for it. */

import type { SessionLabel } from '../../domain/sessions/session-change.ts';
import type { Database } from '../connection/database.ts';
import { changed, changeSession, labelOf } from '../runs/change-session.ts';
import { planWhole } from '../runs/reconcile-session.ts';
import { hasQueuedUploads } from '../uploads/queued-uploads.ts';

export interface PlannedSession {
  readonly session: SessionLabel;
  /** Node instances that got a run. */
  readonly planned: number;
  /** Its window, or its close ahead of time, still has something to wait for or to report; of any session. */
  readonly hasOpenWindow: boolean;
  /** Uploads of its project wait to be published. */
  readonly hasQueuedUploads: boolean;
}

/**
 * Queues the retries that are due, plans every node under the session's lock and marks the session to be reconciled.
 * In a frozen session retries wait. Twice in a row plans nothing the second time. Undefined when there is no such
 * session.
 */
export async function planWholeSession(
  database: Database,
  sessionId: string,
): Promise<PlannedSession | undefined> {
  return changeSession(database, { sessionId }, async (tx, session) => {
    const planned = await planWhole(tx, session);
    const [window] = await tx.query<{ isOpen: boolean }>(
      `select window_due_at is not null or window_dirty_since is not null as is_open from session where id = $1`,
      [sessionId],
    );
    const hasQueued = await hasQueuedUploads(tx, session.projectId);
    return changed({
      session: labelOf(session),
      planned: planned.length,
      hasOpenWindow: window?.isOpen === true,
      hasQueuedUploads: hasQueued,
    });
  });
}
