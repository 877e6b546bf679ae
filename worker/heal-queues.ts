/** Finds queued uploads that nobody drains and has them drained. */
import type { Logger } from 'pino';
import type { Database } from '../store/connection/database.ts';
import { takeForgottenQueues } from '../store/outputs/queued-uploads.ts';
import type { WorkflowClient } from '../workflows/client.ts';
import { healEach } from './heal-each.ts';

const waits = { waitedSeconds: 5, againSeconds: 10 } as const;
/** A workflow whose task fails and whose queue has waited for so long does not get better by itself. */
const failingForSeconds = 30;
const projectsPerRound = 50;

/** One round of the healer: every step is safe to repeat. */
export async function healQueues(database: Database, workflows: WorkflowClient, log: Logger): Promise<void> {
  const forgotten = await takeForgottenQueues(database, waits, projectsPerRound);
  const projectIds = ({ projectId }: { readonly projectId: number }) => ({ projectId });
  await healEach(forgotten, projectIds, { workflows, log }, async ({ projectId, waitedSeconds }) => {
    if (waitedSeconds > failingForSeconds && (await workflows.queueHealth(projectId)) === 'failing') {
      await workflows.terminateQueue(projectId, 'Its workflow task fails; it starts anew.');
      log.warn({ projectId }, 'an ingest workflow could not go on and starts anew');
    }
    await workflows.lookAtQueueNow(projectId);
  });
}
