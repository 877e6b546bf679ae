/** A webhook's message, checked by the published Python library of Standard Webhooks. */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { sendWebhook, webhookReach } from '../../activities/send-webhook.ts';
import { startReceiver } from '../api/webhooks/receiver.ts';
import { pythonEnvironment } from './environment.ts';

const { python, missing } = pythonEnvironment();
if (missing !== '') console.warn(`skipped: ${missing}`);

const check = `
import json, sys
from standardwebhooks import Webhook
given = json.load(sys.stdin)
for secret in given["secrets"]:
    Webhook(secret).verify(given["body"], given["headers"])
try:
    Webhook(given["secrets"][0]).verify(given["body"] + " ", given["headers"])
except Exception:
    print("genuine")
`;

test.skipIf(python === undefined)(
  'a message is genuine by each of two secrets, and not when a byte of it changes',
  async () => {
    const receiver = await startReceiver();
    try {
      const secrets = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'];
      const body = JSON.stringify({
        type: 'node.failed',
        timestamp: '2026-11-20T09:30:00.000Z',
        data: { nodeName: 'Größe' },
      });
      const message = { url: receiver.url, id: 'delivery-1', body, at: new Date(), secrets };
      const sent = await sendWebhook(message, webhookReach(['127.0.0.1']), AbortSignal.timeout(100_000));
      expect(sent.attempt).toMatchObject({ status: 200, error: null });
      const headers = receiver.received[0]!.headers;
      const checked = spawnSync(python!, ['-c', check], {
        input: JSON.stringify({ secrets, body, headers }),
        encoding: 'utf8',
      });
      expect(checked).toMatchObject({ status: 0, stdout: 'genuine\n' });
    } finally {
      await receiver.stop();
    }
  },
);
