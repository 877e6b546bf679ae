import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { webhookReach } from '../../../activities/send-webhook.ts';
import { createWebhookActivities } from '../../../activities/webhooks.ts';
import { SecretBox } from '../../../store/objects/secrets.ts';
import { acquireDelivery, recordAttempt } from '../../../store/webhooks/deliveries.ts';
import { startWebhookLoops } from '../../../worker/webhooks.ts';
import type { WorkflowClient } from '../../../workflows/client.ts';
import { activityNames } from '../../../workflows/contract.ts';
import { ask } from '../../support/api.ts';
import { eventually, platformState, statementsWait } from '../../support/eventually.ts';
import { runnerStage } from '../../support/runner.ts';
import { testWorkflows } from '../../support/workflows.ts';
import { type Receiver, startReceiver } from './receiver.ts';

const stage = await runnerStage();
const { api, people, platform, database } = stage;
const temporal = await testWorkflows({ ...platform.environment, WEBHOOK_ALLOWLIST: '127.0.0.0/8' });
const path = '/api/v2/admin/webhooks';
const admin = (method: string, at: string, json?: unknown) =>
  ask(api.url, method, at, { token: people.Developer.token, json });

let receiver: Receiver;
beforeAll(async () => {
  await temporal.startWorker('workflows');
  receiver = await startReceiver();
});
afterAll(() => receiver?.stop());

test('receivers that do not answer hold up no other webhook', async () => {
  const open = new Set<ServerResponse>();
  receiver.answer = (_received, response) =>
    void open.add(response.once('close', () => open.delete(response)));
  const ids: string[] = [];
  while (ids.length < 30)
    ids.push((await admin('POST', path, { url: receiver.url, events: ['session.created'] })).body.id);
  await database.query(
    `with made as (
       insert into webhook_delivery (webhook_id, type, data, due_at)
       select id, 'webhook.test', '{}', clock_timestamp() from unnest($1::uuid[]) as w (id) returning webhook_id)
     select pg_notify('webhook_due', webhook_id::text) from made`,
    [ids],
  );
  await eventually('all are being sent', () => open.size === ids.length);
  for (const response of open) response.writeHead(200).end('noted');
});

test('a delivery that is being sent when it is asked for again is sent once, and its attempt is recorded', async () => {
  const waiting: { readonly id: string; readonly response: ServerResponse }[] = [];
  receiver.answer = ({ id }, response) => void waiting.push({ id, response });
  const { id } = (await admin('POST', path, { url: receiver.url, events: ['session.created'] })).body;
  const queued = async () => (await admin('POST', `${path}/${id}/test`)).body.id as string;
  // Both are due when the webhook's senders begin, so two of them are busy.
  await database.query(
    `with made as (
       insert into webhook_delivery (webhook_id, type, data, due_at)
       select $1, 'webhook.test', '{}', clock_timestamp() from generate_series(1, 2) returning webhook_id)
     select pg_notify('webhook_due', webhook_id::text) from made`,
    [id],
  );
  await eventually('two are being sent', () => waiting.length === 2);
  const [first, second] = waiting as [(typeof waiting)[0], (typeof waiting)[0]];
  const again = () => admin('POST', `${path}/${id}/deliveries/${first.id}/redeliver`);
  const shown = async () =>
    (await admin('GET', `${path}/${id}/deliveries`)).body.deliveries.find(
      (one: { id: string }) => one.id === first.id,
    );
  expect(await again()).toMatchObject({ status: 202, body: { id: first.id, state: 'pending' } });
  const later = await queued();
  second.response.writeHead(200).end('noted');
  // What is due longest is sent first.
  await eventually('the later one has come', () => waiting.some((one) => one.id === later));
  for (const { response } of waiting) if (!response.headersSent) response.writeHead(500).end('busy');
  const failed = await eventually('its attempt is recorded', async () => {
    const delivery = await shown();
    return delivery.attempts.length > 0 && delivery;
  });
  expect(receiver.received.filter((one) => one.id === first.id)).toHaveLength(1);
  expect(failed.attempts).toMatchObject([{ status: 500, response: 'busy' }]);
  // Between two attempts the next one comes at once.
  receiver.answer = (_received, response) => void response.writeHead(200).end('noted');
  await again();
  await eventually('it has come', async () => (await shown()).state === 'delivered');
  expect((await shown()).attempts).toHaveLength(2);
});

test('how long a delivery has been sent without success is read for the metrics, while its webhook is enabled', async () => {
  receiver.answer = (_received, response) => void response.writeHead(500).end();
  const fields = { url: receiver.url, events: ['session.created'] };
  const { id } = (await admin('POST', path, fields)).body;
  await admin('POST', `${path}/${id}/test`);
  const failed = `select 1 from webhook_delivery where webhook_id = $1 and attempts > 0 and sent_until is null`;
  await eventually('it has failed', async () => (await database.query(failed, [id])).length > 0);
  await database.query(
    `update webhook_delivery set expires_at = expires_at - interval '2 hours' where webhook_id = $1`,
    [id],
  );
  const oldestHours = async () => Math.floor((await platformState(database)).webhookOldestSeconds / 3_600);
  expect(await oldestHours()).toBe(2);
  await admin('PUT', `${path}/${id}`, { ...fields, enabled: false });
  expect(await oldestHours()).toBe(0);
});

test('a delivery that is answered late holds up no later one of its webhook', async () => {
  // By delivery: those of other tests are tried again meanwhile.
  const waiting = new Map<string, ServerResponse>();
  receiver.answer = ({ id }, response) => void waiting.set(id, response);
  const { id } = (await admin('POST', path, { url: receiver.url, events: ['session.created'] })).body;
  const send = async () => {
    const { body } = await admin('POST', `${path}/${id}/test`);
    return await eventually('it is being sent', () => waiting.get(body.id));
  };
  const [first, second] = [await send(), await send()];
  expect([first.closed, second.closed]).toEqual([false, false]);
  for (const response of waiting.values()) response.writeHead(200).end('noted');
});

test('a delivery bears the time of the database, whatever the clock of the worker says', async () => {
  receiver.answer = (_received, response) => void response.writeHead(500).end('busy');
  const { id } = (await admin('POST', path, { url: receiver.url, events: ['session.created'] })).body;
  await admin('POST', `${path}/${id}/rotate-secret`);
  await database.query(
    `insert into webhook_delivery (webhook_id, type, data, due_at) values ($1, 'webhook.test', '{}', clock_timestamp())`,
    [id],
  );
  const reachOf = webhookReach(['127.0.0.0/8']);
  const services = { database, secrets: api.composed.services.objects.secrets, reachOf };
  const activities = createWebhookActivities({ ...services, log: pino({ level: 'silent' }) });
  vi.setSystemTime(Date.now() + 25 * 3_600_000);
  onTestFinished(() => void vi.useRealTimers());
  await new MockActivityEnvironment().run(activities[activityNames.deliverWebhook], id);
  vi.useRealTimers();
  const { deliveries } = (await admin('GET', `${path}/${id}/deliveries`)).body;
  expect(Date.parse(deliveries[0].attempts[0].at)).toBeLessThan(Date.now() + 60_000);
  const { headers } = receiver.received.find((one) => one.id === deliveries[0].id)!;
  // Receivers accept it: it is of now, and signed by the secret before as well.
  expect(Number(headers['webhook-timestamp'])).toBeLessThan(Date.now() / 1_000 + 60);
  expect(String(headers['webhook-signature']).split(' ')).toHaveLength(2);
});

test('a webhook whose secret is of another SECRETS_KEY is sent again as soon as it has a new secret', async () => {
  receiver.answer = (_received, response) => void response.writeHead(200).end('noted');
  const { id } = (await admin('POST', path, { url: receiver.url, events: ['session.created'] })).body;
  const other = new SecretBox('another key that is long enough').encrypt('whsec_b3RoZXI=', 'a purpose');
  await database.query('update webhook set secret = $2 where id = $1', [id, other]);
  const rotated = await admin('POST', `${path}/${id}/rotate-secret`);
  expect(rotated).toMatchObject({ status: 200, body: { previousSecretUntil: null } });
  receiver.secret = rotated.body.secret;
  const sent = (await admin('POST', `${path}/${id}/test`)).body.id as string;
  const came = await eventually('it has come', () => receiver.received.find((one) => one.id === sent));
  expect(came.isGenuine).toBe(true);
});

test('a failure of one of the senders of a webhook waits for the others: they do not go on beside the next attempt', async () => {
  const { id } = (await admin('POST', path, { url: receiver.url, events: ['session.created'] })).body;
  let answer: ServerResponse | undefined;
  let sent: string | undefined;
  receiver.answer = (received, response) => {
    // Deliveries of other tests are tried again meanwhile.
    if (received.id === sent) answer = response;
    else response.writeHead(200).end();
  };
  const [delivery] = await database.query<{ id: string }>(
    `insert into webhook_delivery (webhook_id, type, data, due_at)
     values ($1, 'webhook.test', '{}', clock_timestamp()) returning id`,
    [id],
  );
  sent = delivery!.id;
  let acquired = 0;
  const failing = new Proxy(database, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      if (name !== 'query') return value.bind(target);
      return (text: string, ...rest: unknown[]) => {
        const isLost = text.includes('attempts = attempts + 1') && ++acquired === 2;
        return isLost
          ? Promise.reject(new Error('the connection is lost'))
          : value.call(target, text, ...rest);
      };
    },
  });
  const services = { database: failing, secrets: api.composed.services.objects.secrets };
  const reachOf = webhookReach(['127.0.0.0/8']);
  const activities = createWebhookActivities({ ...services, reachOf, log: pino({ level: 'silent' }) });
  let isOver = false;
  const run = new MockActivityEnvironment().run(activities[activityNames.deliverWebhook], id).finally(() => {
    isOver = true;
  });
  const ended = expect(run).rejects.toThrow('the connection is lost');
  await eventually('it is being sent', () => answer !== undefined);
  expect(isOver).toBe(false);
  answer?.writeHead(200).end('noted');
  await ended;
  const { deliveries } = (await admin('GET', `${path}/${id}/deliveries`)).body;
  expect(deliveries).toMatchObject([{ state: 'delivered' }]);
});

test('a webhook that is deleted while a fact is being written lets the fact be written', async () => {
  const graph = await stage.chainOf(1);
  const { id } = (await admin('POST', path, { url: receiver.url, events: ['output.published'] })).body;
  const upload = await database.transaction(async (tx) => {
    await tx.query('delete from webhook where id = $1', [id]);
    const answer = stage.upload(graph, 'input', 'x');
    await statementsWait(database);
    return { answer };
  });
  expect((await upload.answer).status).toBe(201);
});

test('an attempt that ends after its delivery was acquired again decides nothing', async () => {
  const { id } = (await admin('POST', path, { url: receiver.url, events: ['session.created'] })).body;
  await database.query(
    `insert into webhook_delivery (webhook_id, type, data, due_at) values ($1, 'webhook.test', '{}', clock_timestamp())`,
    [id],
  );
  const former = (await acquireDelivery(database, id))!;
  await database.query('update webhook_delivery set due_at = clock_timestamp() where id = $1', [former.id]);
  const present = (await acquireDelivery(database, id))!;
  expect(present.id).toBe(former.id);
  const attempt = { at: new Date().toISOString(), durationMs: 1, status: 200, error: null, response: '' };
  const shown = async () => (await admin('GET', `${path}/${id}/deliveries`)).body.deliveries[0];
  await recordAttempt(database, former, { ...attempt, status: 500, error: 'refused' }, null);
  expect(await shown()).toMatchObject({ state: 'pending', attempts: [] });
  await recordAttempt(database, present, attempt, null);
  expect(await shown()).toMatchObject({ state: 'delivered', attempts: [{ status: 200 }] });
});

test('what is pending for a webhook that was disabled meanwhile is not sent until it is enabled again', async () => {
  const own = await startReceiver();
  onTestFinished(() => own.stop());
  const fields = { url: own.url, events: ['session.created'] };
  const { id } = (await admin('POST', path, { ...fields, enabled: false })).body;
  await database.query(
    `insert into webhook_delivery (webhook_id, type, data, due_at) values ($1, 'webhook.test', '{}', clock_timestamp())`,
    [id],
  );
  // A sender that was at work when the webhook was disabled asks for the next one.
  expect(await acquireDelivery(database, id)).toBeUndefined();
  await admin('PUT', `${path}/${id}`, { ...fields, enabled: true });
  await eventually('it has come', () => own.received.length === 1);
});

test('a 410 of an address that a webhook no longer has does not disable it', async () => {
  const own = await startReceiver();
  onTestFinished(() => own.stop());
  let former: ServerResponse | undefined;
  own.answer = (_received, response) => {
    former = response;
  };
  const fields = { url: own.url, events: ['session.created'] };
  const { id } = (await admin('POST', path, fields)).body;
  await admin('POST', `${path}/${id}/test`);
  const response = await eventually('it is being sent', () => former);
  own.answer = (_received, response) => void response.writeHead(200).end('noted');
  const url = `${own.url}&moved=1`;
  expect((await admin('PUT', `${path}/${id}`, { ...fields, url })).status).toBe(200);
  response.writeHead(410).end();
  await eventually('its attempt is recorded', async () => {
    const { body } = await admin('GET', `${path}/${id}/deliveries`);
    return body.deliveries[0].attempts.length > 0;
  });
  const next = await admin('POST', `${path}/${id}/test`);
  expect(next.status).toBe(202);
  // By the sender that got the 410, or beside it: the webhook was not disabled in between.
  await eventually('the next has come', () => own.received.some((one) => one.id === next.body.id), 20_000);
  expect((await admin('GET', `${path}/${id}`)).body).toMatchObject({ enabled: true, url });
});

test('many deliveries that come at once notify the workflow of their webhook at once, and then ever more seldom', async () => {
  const notified: number[] = [];
  const workflows = { notify: () => notified.push(performance.now()) } as unknown as WorkflowClient;
  const loops = startWebhookLoops({ database, workflows, log: pino({ level: 'silent' }) });
  onTestFinished(async () => void (await Promise.all(loops.map((loop) => loop.stop()))));
  const announce = () => database.query(`select pg_notify('webhook_due', $1)`, [randomUUID()]);
  await eventually('it listens', async () => (await announce()) && notified.length > 0);
  notified.length = 0;
  const webhookId = randomUUID();
  const startedAtMs = performance.now();
  let lastAnnouncedMs = 0;
  for (let count = 0; count < 60; count++) {
    lastAnnouncedMs = performance.now();
    await database.query(`select pg_notify('webhook_due', $1)`, [webhookId]);
  }
  expect(notified.length).toBeGreaterThan(0);
  await eventually('the last one is not left out', () => notified.at(-1)! > lastAnnouncedMs);
  expect(notified.length).toBeLessThanOrEqual(2 + (performance.now() - startedAtMs) / 100);
});
