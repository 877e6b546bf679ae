/** The activities of the window workflow: looking, and recording that its time has come. */
import type { WindowEnd, WindowLook } from '../domain/sessions/shared-session.ts';
import type { Database } from '../store/connection/database.ts';
import * as windows from '../store/sessions/session-windows.ts';

export interface WindowActivities {
  /** What to show and to wait for; null when the session is gone. */
  lookAtWindow(sessionId: string): Promise<WindowLook | null>;
  /** Records that the close, or the time after the window, has fallen due; does nothing before that. */
  endWindow(sessionId: string): Promise<WindowEnd>;
}

export function createWindowActivities(services: { database: Database }): WindowActivities {
  return {
    async lookAtWindow(sessionId) {
      return (await windows.lookAtWindow(services.database, sessionId)) ?? null;
    },
    endWindow: (sessionId) => windows.endWindow(services.database, sessionId),
  };
}
