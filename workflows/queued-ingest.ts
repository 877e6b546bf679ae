/**
 * The workflow of one project's queue of uploads: open only while something is queued.
 *
 * It decides nothing: the activity publishes what the database lists, and the healer makes up for a lost signal.
 */
import {
  ActivityCancellationType,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { IngestActivities } from '../activities/ingest.ts';
import { activityNames, type QueuedIngestInput, wakeSignal } from './contract.ts';

const wake = defineSignal(wakeSignal);
/** Beyond this many events the workflow continues as new. */
const maxHistoryEvents = 1_000;

const { [activityNames.drainQueue]: drainQueue } = proxyActivities<IngestActivities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '15s',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '5s' },
});

export async function queuedIngest(input: QueuedIngestInput): Promise<void> {
  let dirty = true;
  setHandler(wake, () => {
    dirty = true;
  });
  while (dirty) {
    dirty = false;
    const summary = `Queued uploads of project ${input.projectId}`;
    const { more } = await drainQueue.executeWithOptions({ summary }, [input.projectId]);
    if (more) dirty = true;
    if (dirty && workflowInfo().historyLength > maxHistoryEvents) {
      await continueAsNew<typeof queuedIngest>(input);
    }
  }
}
