/**
 * Finds sessions that nobody looks at and has them looked at.
 *
 * A plain loop over the database, under an advisory lock, and not something inside Temporal: it must work when
 * Temporal was wiped. Every step is safe to repeat, so a healer that dies half-way leaves nothing behind.
 */
import type { Logger } from 'pino';
import { forgottenSessions, takeUncheckedSessions } from '../store/advance.ts';
import type { Database } from '../store/database.ts';
import { withHealerLock } from '../store/healer-lock.ts';
import type { SessionLabel, WorkflowClient } from '../workflows/client.ts';

export const healerWaits = { wantedSeconds: 5, dueSeconds: 5, builtinSeconds: 30 } as const;
/** How often a session with open runs is checked for a living workflow. */
const checkSeconds = 45;
const sessionsPerRound = 50;

/** One round: forgotten sessions are signalled, workflows that were ended from outside or are stuck start anew. */
export async function healOnce(database: Database, workflows: WorkflowClient, log: Logger): Promise<void> {
  await withHealerLock(database, async () => {
    for (const session of await forgottenSessions(database, healerWaits, sessionsPerRound)) {
      await heal(workflows, session, log);
    }
    for (const session of await takeUncheckedSessions(database, checkSeconds, sessionsPerRound)) {
      if ((await workflows.sessionHealth(session.sessionId)) !== 'running')
        await heal(workflows, session, log);
    }
  });
}

async function heal(workflows: WorkflowClient, session: SessionLabel, log: Logger): Promise<void> {
  if ((await workflows.sessionHealth(session.sessionId)) === 'stuck') {
    await workflows.terminateSession(session.sessionId, 'Its workflow task fails; it starts anew.');
    log.warn({ sessionId: session.sessionId }, 'session workflow was stuck and starts anew');
  }
  await workflows.lookAgainNow(session);
}
