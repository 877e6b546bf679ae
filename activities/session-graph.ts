/** The activities of the session workflow: reconciling a session, and waiting for outside runners. */
import { CompleteAsyncError } from '@temporalio/activity';
import type { ReconcileResult } from '../domain/runs/reconcile-result.ts';
import type { Database } from '../store/connection/database.ts';
import { attemptOutcome, reconcileSession } from '../store/runs/reconcile-session.ts';
import { activityNames } from '../workflows/contract.ts';
import { ReconcilePace } from './reconcile-pace.ts';

export interface SessionActivities {
  /**
   * Plans the session and says what to wait for, what no longer, what is due and has ended; null when the session is gone.
   * @param awaited activity ids that the workflow waits for
   */
  [activityNames.reconcileSession](
    sessionId: string,
    awaited: readonly string[],
  ): Promise<ReconcileResult | null>;
  /**
   * Completes when the attempt has ended: at once when it already has, else by its id, after the commit that ends it.
   * Names the session and node for readers of the history.
   */
  [activityNames.awaitOutcome](
    sessionId: string,
    runId: string,
    attempt: number,
  ): Promise<{ outcome: string }>;
}

export function createSessionActivities(services: { database: Database }): SessionActivities {
  const pace = new ReconcilePace();
  return {
    async [activityNames.reconcileSession](sessionId, awaited) {
      const result = await reconcileSession(services.database, sessionId, awaited, pace.sharedMs());
      pace.note(sessionId, result !== undefined && result.lookInMs !== null);
      return result ?? null;
    },
    async [activityNames.awaitOutcome](_sessionId, runId, attempt) {
      const outcome = await attemptOutcome(services.database, runId, attempt);
      if (outcome === undefined) throw new CompleteAsyncError();
      return { outcome };
    },
  };
}
