/** One attempt to deliver a webhook, by HTTP as Standard Webhooks says. */
import { createHmac } from 'node:crypto';
import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { BlockList } from 'node:net';
import { limits } from '../domain/limits.ts';
import { isEndpointAllowed } from '../domain/network/endpoint.ts';
import { redacted } from '../domain/redact.ts';
import { startOf } from '../domain/text.ts';
import { type WebhookAttempt, webhookSecretPrefix } from '../domain/webhooks/webhook.ts';
import { isRefusedHost, lookupWithin, type Reach, refusal } from '../store/connection/reach.ts';

export interface WebhookMessage {
  readonly url: string;
  readonly id: string;
  readonly body: string;
  /** Now, by the clock of the database: receivers refuse messages of another time. */
  readonly at: Date;
  /** As {@link webhookSignature}. */
  readonly secrets: readonly string[];
}

export interface AttemptResult {
  readonly attempt: WebhookAttempt;
  /** What the receiver asked for; null when it did not. */
  readonly retryAfterSeconds: number | null;
}

/**
 * The value of `webhook-signature`: a signature by each secret, so that a receiver may know either.
 * @param secrets `whsec_` and base64
 */
function webhookSignature(
  id: string,
  timestampSeconds: number,
  body: string,
  secrets: readonly string[],
): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(webhookSecretPrefix.length), 'base64');
      return `v1,${createHmac('sha256', key).update(`${id}.${timestampSeconds}.${body}`).digest('base64')}`;
    })
    .join(' ');
}

/**
 * Where webhooks may be sent: to the internet, and to the hosts and networks that the operator names.
 * @param allowlist hosts as those of data sources, addresses, and networks such as `10.0.0.0/8`
 */
export function webhookReach(allowlist: readonly string[]): (url: URL) => Reach {
  const networks = new BlockList();
  const hosts: string[] = [];
  for (const entry of allowlist) {
    const [, address = '', bits] = /^(.+)\/(\d+)$/.exec(entry) ?? [];
    if (bits === undefined) hosts.push(entry);
    else networks.addSubnet(address, Number(bits), address.includes(':') ? 'ipv6' : 'ipv4');
  }
  const admits = (address: string) => {
    const plain = address.replace(/^\[|\]$/g, '');
    return networks.check(plain, plain.includes(':') ? 'ipv6' : 'ipv4');
  };
  return (url) => ({ inside: isEndpointAllowed(url, hosts), admits });
}

/** Sends a message once. Never rejects: what went wrong is in the attempt. A redirect counts as a failure. */
export async function sendWebhook(
  message: WebhookMessage,
  reachOf: (url: URL) => Reach,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const startedAtMs = performance.now();
  const done = (outcome: Pick<WebhookAttempt, 'status' | 'error' | 'response'>) => ({
    at: message.at.toISOString(),
    durationMs: Math.round(performance.now() - startedAtMs),
    ...outcome,
  });
  try {
    const deadline = AbortSignal.timeout(limits.webhookAttemptSeconds * 1_000);
    const answer = await post(message, reachOf, AbortSignal.any([signal, deadline]));
    const status = answer.statusCode ?? 0;
    const response = await beginningOf(answer);
    const error = status >= 200 && status < 300 ? null : `The receiver answered with status ${status}.`;
    return {
      attempt: done({ status, error, response }),
      retryAfterSeconds: retryAfterOf(answer, message.at),
    };
  } catch (error) {
    return {
      attempt: done({ status: null, error: reasonOf(error), response: null }),
      retryAfterSeconds: null,
    };
  }
}

function post(
  { url: address, id, body, at, secrets }: WebhookMessage,
  reachOf: (url: URL) => Reach,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const url = new URL(address);
  const reach = reachOf(url);
  if (isRefusedHost(url.hostname, reach)) return Promise.reject(refusal());
  const seconds = Math.floor(at.getTime() / 1_000);
  const request = url.protocol === 'https:' ? requestSecure : requestPlain;
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method: 'POST',
      agent: false,
      lookup: lookupWithin(reach),
      signal,
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'user-agent': 'simulation-data-platform',
        'webhook-id': id,
        'webhook-timestamp': String(seconds),
        'webhook-signature': webhookSignature(id, seconds, body, secrets),
      },
    });
    sent.on('response', resolve);
    sent.on('error', reject);
    sent.end(body);
  });
}

/** The connection is closed after as much as is shown and some more. */
async function beginningOf(answer: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of answer as AsyncIterable<Buffer>) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes > limits.webhookResponseBytes) break;
  }
  answer.destroy();
  const text = Buffer.concat(pieces).toString('utf8').replaceAll('\0', '');
  return startOf(redacted(text), limits.webhookResponseCharacters);
}

/** HTTP allows seconds and a date. */
function retryAfterOf({ headers }: IncomingMessage, at: Date): number | null {
  const value = headers['retry-after'] ?? '';
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - at.getTime()) / 1_000;
  return seconds >= 0 ? seconds : null;
}

/** One sentence. Which inner addresses exist must not show. */
function reasonOf(error: unknown): string {
  const { name, code } = error as NodeJS.ErrnoException;
  if (name === 'TimeoutError' || name === 'AbortError')
    return `The receiver did not answer within ${limits.webhookAttemptSeconds} seconds.`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return 'The host is unknown, or its address is not allowed.';
  return `The connection failed${code === undefined ? '' : ` (${code})`}.`;
}
