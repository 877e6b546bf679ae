/**
 * Finds sessions that nobody looks at and has them looked at.
 *
 * A plain loop over the database, under an advisory lock, and not something inside Temporal: it must work when
 * Temporal was wiped. Every step is safe to repeat, so a healer that dies half-way leaves nothing behind.
 */
import type { Logger } from 'pino';
import type { SessionLabel } from '../domain/sessions/session-change.ts';
import type { Database } from '../store/connection/database.ts';
import { withHealerLock } from '../store/connection/healer-lock.ts';
import { acquireForgottenSessions, acquireUncheckedSessions } from '../store/sessions/forgotten-sessions.ts';
import type { WorkflowClient } from '../workflows/client.ts';
import { healEach } from './heal-each.ts';
import { healQueues } from './heal-queues.ts';
import { endDeletedSessions, healWindows } from './heal-windows.ts';

/** Signalling the same session more often would only keep a failing workflow from ever counting its failures. */
const waits = { wantedSeconds: 5, dueSeconds: 5, builtinSeconds: 30, againSeconds: 10 } as const;
/** How often a session with open runs is checked for a living workflow. */
const checkSeconds = 45;
/** A workflow whose task fails and that has not looked for so long does not get better by itself. */
const failingForSeconds = 30;
const sessionsPerPage = 50;
/** After an outage of Temporal thousands may wait; each page ends before the next is taken, so that nothing piles up. */
const pagesPerRound = 100;

/** One round: forgotten sessions are signalled, workflows that were ended from outside or cannot go on start anew. */
export async function healOnce(database: Database, workflows: WorkflowClient, log: Logger): Promise<void> {
  await withHealerLock(database, async () => {
    const sessionIds = ({ sessionId }: SessionLabel) => ({ sessionId });
    const parts = { workflows, log };
    for (let pages = 0, isFull = true; isFull && pages < pagesPerRound; pages += 1) {
      const forgotten = await acquireForgottenSessions(database, waits, sessionsPerPage);
      isFull = forgotten.length === sessionsPerPage;
      await healEach(forgotten, sessionIds, parts, async (session) => {
        if (session.wantedForSeconds > failingForSeconds) await endFailing(workflows, session, log);
        await workflows.lookAgainNow(session);
      });
    }
    const unchecked = await acquireUncheckedSessions(database, checkSeconds, sessionsPerPage);
    await healEach(unchecked, sessionIds, parts, async (session) => {
      if ((await workflows.sessionHealth(session.sessionId)) === 'ended')
        await workflows.lookAgainNow(session);
    });
    await healWindows(database, workflows, log);
    await healQueues(database, workflows, log);
    await endDeletedSessions(database, workflows, log);
  });
}

/** Ends a workflow that cannot go on; the next look starts it anew, which is safe because it holds no state. */
async function endFailing(workflows: WorkflowClient, session: SessionLabel, log: Logger): Promise<void> {
  if ((await workflows.sessionHealth(session.sessionId)) !== 'failing') return;
  await workflows.terminateSession(session.sessionId, 'Its workflow task fails; it starts anew.');
  log.warn({ sessionId: session.sessionId }, 'a session workflow could not go on and starts anew');
}
