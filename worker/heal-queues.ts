/** Finds queued uploads that nobody drains and has them drained. */
import type { Logger } from 'pino';
import type { Database } from '../store/database.ts';
import { takeForgottenQueues } from '../store/queued-uploads.ts';
import type { WorkflowClient } from '../workflows/client.ts';

const waits = { waitedSeconds: 5, againSeconds: 10 } as const;
/** A workflow whose task fails and whose queue has waited for so long does not get better by itself. */
const failingForSeconds = 30;
const projectsPerRound = 50;

/** One round of the healer: every step is safe to repeat. */
export async function healQueues(database: Database, workflows: WorkflowClient, log: Logger): Promise<void> {
  for (const { projectId, waitedSeconds } of await takeForgottenQueues(database, waits, projectsPerRound)) {
    if (waitedSeconds > failingForSeconds && (await workflows.queueHealth(projectId)) === 'failing') {
      await workflows.terminateQueue(projectId, 'Its workflow task fails; it starts anew.');
      log.warn({ projectId }, 'an ingest workflow could not go on and starts anew');
    }
    await workflows.lookAtQueueNow(projectId);
  }
}
