/**
 * Finds workflows that did not act on the state of the database, and wakes them.
 *
 * A plain loop over the database, under an advisory lock, and not something inside Temporal: it must work when
 * Temporal was wiped. Every step is safe to repeat, so a healer that dies half-way leaves nothing behind.
 */
import type { Logger } from 'pino';
import type { Database } from '../store/connection/database.ts';
import { withHealerLock } from '../store/connection/healer-lock.ts';
import { acquireForgottenSchedules } from '../store/reports/scheduled-files.ts';
import { listEndingSessions, markSessionEnded } from '../store/sessions/delete-session.ts';
import {
  acquireForgottenSessions,
  acquireLateWindows,
  acquireUncheckedSessions,
  acquireUncheckedWindows,
} from '../store/sessions/forgotten-sessions.ts';
import { acquireForgottenQueues } from '../store/uploads/queued-uploads.ts';
import { acquireForgottenWebhooks } from '../store/webhooks/deliveries.ts';
import type { WorkflowClient, WorkflowHealth } from '../workflows/client.ts';
import {
  queueTarget,
  reportScheduleTarget,
  sessionTarget,
  type WorkflowTarget,
  webhookTarget,
  windowTarget,
} from '../workflows/targets.ts';

/** Signalling the same workflow more often would only keep a failing one from ever counting its failures. */
const againSeconds = 10;
/** How often a waiting workflow is checked for being alive. */
const checkSeconds = 45;
/** The same for a session that only waits for a built-in run. */
const awaitedSeconds = 60;
/** A workflow whose task fails and that has been late for this long does not recover on its own. */
const failingForSeconds = 30;
/**
 * One whose task is only slow gets longer: on a busy machine each restart makes more work, and many sessions are slow
 * together.
 */
const slowForSeconds = 300;
/** The API ends the workflows of a session that it deletes; after this that counts as failed. */
const endingSeconds = 5;
const perPage = 50;

interface LateWorkflow {
  readonly target: WorkflowTarget;
  readonly lateForSeconds: number;
}

/** How the workflows of one kind are found. */
interface Healed {
  readonly name: string;
  /** Workflows that did not act in time; each is returned once in `againSeconds`. */
  readonly late: (database: Database, againSeconds: number) => Promise<LateWorkflow[]>;
  /** Workflows that should wait, and were not checked for {@link checkSeconds}. */
  readonly unchecked?: (database: Database) => Promise<WorkflowTarget[]>;
  /** Each page ends before the next is read, so that nothing piles up. */
  readonly pagesPerRound: number;
}

const kinds: readonly Healed[] = [
  {
    name: 'a session',
    // After an outage of Temporal thousands may wait.
    pagesPerRound: 100,
    async late(database, againSeconds) {
      const waits = { dirtySeconds: 5, dueSeconds: 5, builtinSeconds: 30, awaitedSeconds, againSeconds };
      const sessions = await acquireForgottenSessions(database, waits, perPage);
      return sessions.map((session) => ({
        target: sessionTarget(session),
        lateForSeconds: session.lateForSeconds,
      }));
    },
    async unchecked(database) {
      return (await acquireUncheckedSessions(database, checkSeconds, perPage)).map(sessionTarget);
    },
  },
  {
    name: 'a window',
    pagesPerRound: 1,
    async late(database, againSeconds) {
      const windows = await acquireLateWindows(database, { lateSeconds: 5, againSeconds }, perPage);
      return windows.map((window) => ({
        target: windowTarget(window),
        lateForSeconds: window.lateForSeconds,
      }));
    },
    async unchecked(database) {
      return (await acquireUncheckedWindows(database, checkSeconds, perPage)).map(windowTarget);
    },
  },
  {
    name: 'an ingest',
    pagesPerRound: 1,
    async late(database, againSeconds) {
      const queues = await acquireForgottenQueues(database, { waitedSeconds: 5, againSeconds }, perPage);
      return queues.map((queue) => ({
        target: queueTarget(queue.projectId),
        lateForSeconds: queue.waitedSeconds,
      }));
    },
  },
  {
    name: 'a webhook',
    pagesPerRound: 1,
    async late(database, againSeconds) {
      const webhooks = await acquireForgottenWebhooks(database, { dueSeconds: 2, againSeconds }, perPage);
      return webhooks.map(({ webhookId, lateForSeconds }) => ({
        target: webhookTarget(webhookId),
        lateForSeconds,
      }));
    },
  },
  {
    name: 'a report schedule',
    pagesPerRound: 1,
    async late(database, againSeconds) {
      const schedules = await acquireForgottenSchedules(database, { dueSeconds: 2, againSeconds }, perPage);
      return schedules.map(({ scheduleId, lateForSeconds }) => ({
        target: reportScheduleTarget(scheduleId),
        lateForSeconds,
      }));
    },
  },
];

interface Parts {
  readonly database: Database;
  readonly workflows: WorkflowClient;
  readonly log: Logger;
}

/** One round: late workflows are woken, those that were ended from outside or cannot continue are restarted. */
export async function healOnce(database: Database, workflows: WorkflowClient, log: Logger): Promise<void> {
  const parts = { database, workflows, log };
  await withHealerLock(database, async () => {
    for (const kind of kinds) await healKind(parts, kind);
    const ending = await listEndingSessions(database, endingSeconds, perPage);
    const idsOf = (sessionId: string) => ({ sessionId });
    await healEach(parts, ending, idsOf, async (sessionId) => {
      await workflows.endSession(sessionId);
      await markSessionEnded(database, sessionId);
    });
  });
}

async function healKind(parts: Parts, { name, late, unchecked, pagesPerRound }: Healed): Promise<void> {
  const { database, workflows, log } = parts;
  const startedAtMs = performance.now();
  for (let pages = 0, isFull = true; isFull && pages < pagesPerRound; pages += 1) {
    // Each once in a round, however slow Temporal is: else the first ones would be found again before the last.
    const found = await late(database, againSeconds + (performance.now() - startedAtMs) / 1_000);
    isFull = found.length === perPage;
    const idsOf = ({ target }: LateWorkflow) => target.input;
    await healEach(parts, found, idsOf, async ({ target, lateForSeconds }) => {
      if (lateForSeconds <= failingForSeconds) await workflows.wake(target);
      else if ((await workflows.repair(target, restartedAfter(lateForSeconds))) === 'restarted')
        log.warn({ ...target.input }, `${name} workflow could not continue and is restarted`);
    });
  }
  const waiting = (await unchecked?.(database)) ?? [];
  await healEach(
    parts,
    waiting,
    (target) => target.input,
    async (target) => {
      if ((await workflows.health(target)) === 'ended') await workflows.wake(target);
    },
  );
}

function restartedAfter(lateForSeconds: number): readonly WorkflowHealth[] {
  return lateForSeconds > slowForSeconds ? ['failing', 'slow'] : ['failing'];
}

/**
 * Heals each item; a failure is logged with the item's ids and does not stop the others.
 * @throws when Temporal does not answer at all: then the next items would fail as well, each after a whole deadline
 */
async function healEach<T>(
  { workflows, log }: Parts,
  items: readonly T[],
  idsOf: (item: T) => object,
  heal: (item: T) => Promise<void>,
): Promise<void> {
  for (const item of items) {
    try {
      await heal(item);
    } catch (error) {
      log.warn({ ...idsOf(item), err: error }, 'not healed; will be retried');
      await workflows.ping();
    }
  }
}
