/**
 * The workflow of one webhook's deliveries: open while some are pending.
 *
 * It decides nothing: the activity sends what the database lists as due, and the healer makes up for a lost signal.
 */
import { ActivityCancellationType, continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { WebhookActivities } from '../activities/webhooks.ts';
import { activityNames, type WebhookDeliveryInput, webhookQueueOf } from './contract.ts';
import { whileDue } from './due-loop.ts';

/** @returns how it ended, for readers of the history */
export async function webhookDelivery(input: WebhookDeliveryInput): Promise<string> {
  const { [activityNames.deliverWebhook]: deliver } = proxyActivities<WebhookActivities>({
    taskQueue: webhookQueueOf(workflowInfo().taskQueue),
    startToCloseTimeout: '2 minutes',
    heartbeatTimeout: '15s',
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '5s' },
  });
  await whileDue(
    () => deliver(input.webhookId),
    () => continueAsNew<typeof webhookDelivery>(input),
  );
  return 'Nothing is pending.';
}
