/** The activity of the webhook workflow: sending what is due. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { limits } from '../domain/limits.ts';
import { webhookPauseSeconds } from '../domain/webhooks/webhook.ts';
import type { Database } from '../store/connection/database.ts';
import type { Reach } from '../store/connection/reach.ts';
import type { Webhook } from '../store/entities/webhook.ts';
import { type SecretBox, SecretUnreadable } from '../store/objects/secrets.ts';
import {
  acquireDelivery,
  type DueDelivery,
  disableWebhook,
  recordAttempt,
  secondsUntilDue,
} from '../store/webhooks/deliveries.ts';
import { findWebhook, secretsOf } from '../store/webhooks/webhooks.ts';
import { activityNames } from '../workflows/contract.ts';
import { withHeartbeats } from './heartbeats.ts';
import { type AttemptResult, sendWebhook } from './send-webhook.ts';

export interface WebhookActivities {
  /** Sends the webhook's due deliveries, for a while. `nextInSeconds`: until another is due; null: none is pending. */
  [activityNames.deliverWebhook](
    webhookId: string,
  ): Promise<{ delivered: number; failed: number; nextInSeconds: number | null }>;
}

export interface WebhookServices {
  readonly database: Database;
  readonly secrets: SecretBox;
  readonly reachOf: (url: URL) => Reach;
  readonly log: Logger;
}

/** After this long the workflow calls again, so that its history shows the progress. */
const deliverForMs = 20_000;
const checkAgainMs = 1_000;
const gone = 410;

export function createWebhookActivities(services: WebhookServices): WebhookActivities {
  return {
    async [activityNames.deliverWebhook](webhookId) {
      const counts = { delivered: 0, failed: 0 };
      return await withHeartbeats(counts, async (signal) => {
        await deliver(services, webhookId, counts, signal);
        return { ...counts, nextInSeconds: await secondsUntilDue(services.database, webhookId) };
      });
    },
  };
}

async function deliver(
  services: WebhookServices,
  webhookId: string,
  counts: { delivered: number; failed: number },
  signal: AbortSignal,
): Promise<void> {
  const untilMs = performance.now() + deliverForMs;
  const failed = new AbortController();
  const isOver = () => signal.aborted || failed.signal.aborted || performance.now() > untilMs;
  let busy = 0;
  const send = async () => {
    while (!isOver()) {
      busy += 1;
      const isSent = await sendNext(services, webhookId, signal).finally(() => {
        busy -= 1;
      });
      if (isSent !== undefined) counts[isSent ? 'delivered' : 'failed'] += 1;
      else if (busy === 0) return;
      // What falls due meanwhile does not wait for an answer to what is being sent.
      else await delay(checkAgainMs);
    }
  };
  // The activity that is tried again must not work beside what is under way here.
  const senders = Array.from({ length: limits.webhookSenders }, () =>
    send().catch((error) => failed.abort(error)),
  );
  await Promise.all(senders);
  failed.signal.throwIfAborted();
}

/** @returns whether the delivery arrived; undefined when none is due */
async function sendNext(
  services: WebhookServices,
  webhookId: string,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const { database, log } = services;
  const delivery = await acquireDelivery(database, webhookId);
  const webhook = delivery && (await findWebhook(database, webhookId));
  if (delivery === undefined || webhook === undefined) return undefined;
  const { attempt, retryAfterSeconds } = await attemptOf(services, webhook, delivery, signal);
  // The delivery stays acquired, and is due again after its lease.
  signal.throwIfAborted();
  const isSent = attempt.error === null;
  const isOver = isSent || delivery.isLast || attempt.status === gone;
  const retrySeconds = isOver ? null : webhookPauseSeconds(delivery.attempts, retryAfterSeconds);
  await recordAttempt(database, delivery, attempt, retrySeconds);
  if (attempt.status === gone)
    await disableWebhook(database, webhook, 'The receiver answered with status 410.');
  if (!isSent)
    log.info({ webhookId, deliveryId: delivery.id, reason: attempt.error }, 'a webhook was not delivered');
  return isSent;
}

async function attemptOf(
  { secrets, reachOf }: WebhookServices,
  webhook: Webhook,
  { id, type, data, createdAt, attemptedAt }: DueDelivery,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const body = JSON.stringify({ type, timestamp: createdAt.toISOString(), data });
  try {
    const signedBy = secretsOf(webhook, secrets, attemptedAt);
    const message = { url: webhook.url, id, body, at: attemptedAt, secrets: signedBy };
    return await sendWebhook(message, reachOf, signal);
  } catch (error) {
    if (!(error instanceof SecretUnreadable)) throw error;
    const attempt = {
      at: attemptedAt.toISOString(),
      durationMs: 0,
      status: null,
      error: error.message,
      response: null,
    };
    return { attempt, retryAfterSeconds: null };
  }
}
