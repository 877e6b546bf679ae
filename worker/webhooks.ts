/** Deliveries of webhooks: a task queue of their own, and the loops that wake their workflows. */
import { type NativeConnection, Worker } from '@temporalio/worker';
import type { Logger } from 'pino';
import { webhookReach } from '../activities/send-webhook.ts';
import { createWebhookActivities } from '../activities/webhooks.ts';
import { limits } from '../domain/limits.ts';
import type { Database } from '../store/connection/database.ts';
import { Listener } from '../store/connection/listener.ts';
import type { SecretBox } from '../store/objects/secrets.ts';
import { reportGoneRunners } from '../store/runners/gone-runners.ts';
import { sweepDeliveries, webhookDueChannel } from '../store/webhooks/deliveries.ts';
import type { WorkflowClient } from '../workflows/client.ts';
import { webhookQueueOf } from '../workflows/contract.ts';
import { webhookTarget } from '../workflows/targets.ts';
import { type Loop, startLoop } from './loop.ts';
import { PacedCalls } from './paced-calls.ts';
import { traceActivities } from './trace-activities.ts';

interface Parts {
  readonly database: Database;
  readonly workflows: WorkflowClient;
  readonly log: Logger;
}

/** The worker of {@link webhookQueueOf}: receivers that do not answer hold up nothing but webhooks. */
export async function createWebhookWorker(
  { database, log }: Parts,
  secrets: SecretBox,
  settings: { readonly namespace: string; readonly taskQueue: string; readonly allowlist: readonly string[] },
  connection: NativeConnection,
): Promise<Worker> {
  const reachOf = webhookReach(settings.allowlist);
  return Worker.create({
    connection,
    namespace: settings.namespace,
    taskQueue: webhookQueueOf(settings.taskQueue),
    activities: createWebhookActivities({ database, secrets, reachOf, log }),
    interceptors: { activity: [traceActivities] },
    // One for each: an activity mostly waits for its receiver, and a slow one would keep a place of others.
    maxConcurrentActivityTaskExecutions: limits.webhooks,
    shutdownGraceTime: '10s',
  });
}

/**
 * Wakes workflows when deliveries are announced. A workflow that sends finds by itself what is announced meanwhile, and a call
 * for each delivery would flood the engine. The healer makes up for what is announced while the listener is not connected.
 */
export function startWebhookLoops({ database, workflows, log }: Parts): Loop[] {
  const wakes = new PacedCalls((webhookId) => workflows.notify(webhookTarget(webhookId)));
  const listener = new Listener(
    database,
    { [webhookDueChannel]: (webhookId) => wakes.ask(webhookId) },
    {
      connected: () => undefined,
      lost: (error) => log.warn({ err: error }, 'webhooks are not announced; the healer wakes them'),
    },
  );
  listener.start();
  return [
    {
      async stop() {
        await listener.stop();
        wakes.stop();
      },
    },
    startLoop('gone runners', 5_000, log, () => reportGoneRunners(database)),
    startLoop('webhook sweeper', 60_000, log, async (signal) => {
      while (!signal.aborted && (await sweepDeliveries(database)) > 0);
    }),
  ];
}
