/** The healer's part for shared sessions and deleted ones: windows nobody watches, workflows nobody ended. */
import type { Logger } from 'pino';
import type { Database } from '../store/connection/database.ts';
import { listEndingSessions, markSessionEnded } from '../store/sessions/delete-session.ts';
import { acquireLateWindows, acquireUncheckedWindows } from '../store/sessions/forgotten-sessions.ts';
import type { WorkflowClient } from '../workflows/client.ts';
import { healEach } from './heal-each.ts';

/** Signalling the same window more often would only keep a failing workflow from ever counting its failures. */
const waits = { lateSeconds: 5, againSeconds: 10 } as const;
/** How often a window that waits is checked for a living workflow. */
const checkSeconds = 45;
/** A workflow whose task fails and that has been late for so long does not get better by itself. */
const failingForSeconds = 30;
/** The API ends the workflows of a session that it deletes; after this it is taken to have failed. */
const endingSeconds = 5;
const windowsPerRound = 50;

/** One round: late windows are looked at, and those whose workflow was ended from outside or cannot go on get a new one. */
export async function healWindows(database: Database, workflows: WorkflowClient, log: Logger): Promise<void> {
  const sessionIds = ({ sessionId }: { readonly sessionId: string }) => ({ sessionId });
  const parts = { workflows, log };
  await healEach(
    await acquireLateWindows(database, waits, windowsPerRound),
    sessionIds,
    parts,
    async (window) => {
      if (window.lateForSeconds > failingForSeconds) await endFailing(workflows, window.sessionId, log);
      await workflows.lookAtWindowNow(window);
    },
  );
  const unchecked = await acquireUncheckedWindows(database, checkSeconds, windowsPerRound);
  await healEach(unchecked, sessionIds, parts, async (window) => {
    if ((await workflows.windowHealth(window.sessionId)) === 'ended') await workflows.lookAtWindowNow(window);
  });
}

/** Ends the workflows of deleted sessions that still stand. */
export async function endDeletedSessions(
  database: Database,
  workflows: WorkflowClient,
  log: Logger,
): Promise<void> {
  const ending = await listEndingSessions(database, endingSeconds, windowsPerRound);
  const sessionIds = (sessionId: string) => ({ sessionId });
  await healEach(ending, sessionIds, { workflows, log }, async (sessionId) => {
    await workflows.endSession(sessionId);
    await markSessionEnded(database, sessionId);
  });
}

async function endFailing(workflows: WorkflowClient, sessionId: string, log: Logger): Promise<void> {
  if ((await workflows.windowHealth(sessionId)) !== 'failing') return;
  await workflows.terminateWindow(sessionId, 'Its workflow task fails; it starts anew.');
  log.warn({ sessionId }, 'a window workflow could not go on and starts anew');
}
