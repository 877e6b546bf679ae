/** The activities of the window workflow: reading its state, and recording that its time has come. */
import type { WindowEnd, WindowState } from '../domain/sessions/shared-session.ts';
import type { Database } from '../store/connection/database.ts';
import * as windows from '../store/sessions/session-windows.ts';
import { activityNames } from '../workflows/contract.ts';

export interface WindowActivities {
  /** What to show and to wait for; null when the session is gone. */
  [activityNames.reconcileWindow](sessionId: string): Promise<WindowState | null>;
  /** Records that the close, or the time after the window, has fallen due; does nothing before that. */
  [activityNames.endWindow](sessionId: string): Promise<WindowEnd>;
}

export function createWindowActivities(services: { database: Database }): WindowActivities {
  return {
    async [activityNames.reconcileWindow](sessionId) {
      return (await windows.readWindowState(services.database, sessionId)) ?? null;
    },
    [activityNames.endWindow]: (sessionId) => windows.endWindow(services.database, sessionId),
  };
}
