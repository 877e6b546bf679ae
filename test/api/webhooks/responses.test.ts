/** What is kept of a receiver's answer. */
import { expect, onTestFinished, test } from 'vitest';
import { sendWebhook, webhookReach } from '../../../activities/send-webhook.ts';
import { acquireDelivery, recordAttempt } from '../../../store/webhooks/deliveries.ts';
import { ask } from '../../support/api.ts';
import { runnerStage } from '../../support/runner.ts';
import { startReceiver } from './receiver.ts';

const { api, people, database } = await runnerStage();
const { token } = people.Developer;
const path = '/api/v2/admin/webhooks';

test('an answer that is cut within a character is recorded, and the delivery not sent again for it', async () => {
  const receiver = await startReceiver();
  onTestFinished(() => receiver.stop());
  receiver.answer = (_received, response) => response.writeHead(500).end(`${'x'.repeat(999)}😀 and more`);
  const events = ['session.created'];
  const made = await ask(api.url, 'POST', path, { token, json: { url: receiver.url, events } });
  const { id, secret } = made.body;
  await ask(api.url, 'POST', `${path}/${id}/test`, { token });

  const delivery = (await acquireDelivery(database, id))!;
  const message = {
    url: receiver.url,
    id: delivery.id,
    body: '{}',
    at: delivery.attemptedAt,
    secrets: [secret],
  };
  const reachOf = webhookReach(['127.0.0.0/8']);
  const { attempt } = await sendWebhook(message, reachOf, AbortSignal.timeout(60_000));
  await recordAttempt(database, delivery, attempt, null);

  const { body } = await ask(api.url, 'GET', `${path}/${id}/deliveries`, { token });
  expect(body.deliveries).toMatchObject([
    { state: 'failed', attempts: [{ status: 500, response: `${'x'.repeat(999)}\ufffd` }] },
  ]);
});
