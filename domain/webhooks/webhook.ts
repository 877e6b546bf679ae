/** Webhooks as Standard Webhooks describes them: events and schedule of attempts (additions, section 3). */
export const webhookEvents = [
  'session.created',
  'session.settled',
  'session.closed',
  'node.succeeded',
  'node.failed',
  'output.published',
  'runner.gone',
  'report.ready',
] as const;
export type WebhookEvent = (typeof webhookEvents)[number];

/** Sent by the test route alone. */
export const webhookTestEvent = 'webhook.test';

export const webhookSecretPrefix = 'whsec_';

/** Seconds between an attempt that failed and the next one. */
const pausesSeconds = [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800];
const maxPauseSeconds = 43_200;

/**
 * @param attempts made so far
 * @param retryAfterSeconds that the receiver asked for, if it did
 */
export function webhookPauseSeconds(attempts: number, retryAfterSeconds: number | null): number {
  const pause = pausesSeconds[attempts - 1] ?? maxPauseSeconds;
  return Math.min(Math.max(pause, retryAfterSeconds ?? 0), maxPauseSeconds);
}

/** True for an http or https address without user, password and fragment. */
export function isWebhookUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, hash } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '' && hash === '';
}

/** One attempt to deliver, as it is stored and listed. */
export interface WebhookAttempt {
  /** ISO 8601. */
  readonly at: string;
  readonly durationMs: number;
  /** The status of the answer; null without one. */
  readonly status: number | null;
  /** Why the attempt failed; null when it did not. */
  readonly error: string | null;
  /** The beginning of the answer's body. */
  readonly response: string | null;
}
