/**
 * The workflow of one webhook's deliveries: open while some are pending.
 *
 * It decides nothing: the activity sends what the database lists as due, and the healer makes up for a lost signal.
 */
import {
  ActivityCancellationType,
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { WebhookActivities } from '../activities/webhooks.ts';
import { activityNames, type WebhookDeliveryInput, wakeSignal, webhookQueueOf } from './contract.ts';

const wake = defineSignal(wakeSignal);
/** Beyond this many events the workflow continues as new. */
const maxHistoryEvents = 1_000;

/** @returns how it ended, for readers of the history */
export async function webhookDelivery(input: WebhookDeliveryInput): Promise<string> {
  const { [activityNames.deliverWebhook]: deliver } = proxyActivities<WebhookActivities>({
    taskQueue: webhookQueueOf(workflowInfo().taskQueue),
    startToCloseTimeout: '2 minutes',
    heartbeatTimeout: '15s',
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '5s' },
  });
  let dirty = true;
  setHandler(wake, () => {
    dirty = true;
  });
  for (;;) {
    dirty = false;
    const { nextInSeconds } = await deliver(input.webhookId);
    // A signal may have come while the activity answered.
    if (nextInSeconds === null && !dirty) return 'Nothing is pending.';
    if (nextInSeconds !== null && !dirty) await condition(() => dirty, Math.max(nextInSeconds * 1_000, 1));
    if (workflowInfo().historyLength > maxHistoryEvents) await continueAsNew<typeof webhookDelivery>(input);
  }
}
