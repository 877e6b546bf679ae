/** What the routes of webhooks refuse, and what the events of nodes name. The refusals come first: they leave the list empty. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { sendWebhook, webhookReach } from '../../../activities/send-webhook.ts';
import { acquireDelivery, recordAttempt } from '../../../store/webhooks/deliveries.ts';
import { ask } from '../../support/api.ts';
import { runnerStage } from '../../support/runner.ts';
import { startReceiver } from './receiver.ts';

const stage = await runnerStage();
const { api, database, people } = stage;
const path = '/api/v2/admin/webhooks';
const admin = (method: string, at: string, json?: unknown, token = people.Developer.token) =>
  ask(api.url, method, at, { token, json });

describe('bad requests change nothing', () => {
  test.each([
    [{}, 'url must be an http or https address.'],
    [{ url: 'ftp://x', events: ['node.failed'] }, 'url must be'],
    [{ url: 'http://u:p@x/', events: ['node.failed'] }, 'url must be'],
    [{ url: `http://x/${'y'.repeat(2_000)}`, events: ['node.failed'] }, 'url holds at most'],
    [{ url: 'http://x/', events: [] }, 'events must name at least one event.'],
    [{ url: 'http://x/', events: ['node.failed', 'node.failed'] }, 'events must name each event once.'],
    [{ url: 'http://x/', events: ['node.exploded'] }, 'An event is one of'],
    [
      { url: 'http://x/', events: ['node.failed'], projectId: 999_999_999 },
      'projectId: there is no such project.',
    ],
    [{ url: 'http://x/', events: ['node.failed'], enabled: 'yes' }, 'enabled must be true or false.'],
  ])('%j', async (json, message) => {
    const answer = await admin('POST', path, json);
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain(message);
    expect((await admin('GET', path)).body).toEqual([]);
  });

  test('other roles are refused, and unknown webhooks are not found', async () => {
    for (const role of ['Instructor', 'Trainee'] as const)
      expect((await admin('GET', path, undefined, people[role].token)).status).toBe(403);
    for (const [method, at] of [
      ['GET', ''],
      ['PUT', ''],
      ['DELETE', ''],
      ['POST', '/test'],
      ['POST', '/rotate-secret'],
      ['GET', '/deliveries'],
    ] as const) {
      for (const id of ['0197f3aa-0000-7000-8000-000000000001', 'nonsense']) {
        const answer = await admin(method, `${path}/${id}${at}`, method === 'PUT' ? {} : undefined);
        expect(answer).toMatchObject({ status: 404, body: { message: 'Webhook not found.' } });
      }
    }
  });
});

const { token } = people.Developer;
const post = (path: string, json: object = {}) => ask(api.url, 'POST', `/api/v2${path}`, { token, json });

const newHook = async () =>
  (
    await post('/admin/webhooks', {
      url: 'https://hooks.example.org/',
      events: ['node.succeeded', 'node.failed'],
    })
  ).body.id as string;

/** Type and data of each, oldest first. */
async function eventsOf(hookId: string) {
  const { body } = await ask(api.url, 'GET', `/api/v2/admin/webhooks/${hookId}/deliveries`, { token });
  return body.deliveries.map(({ type, data }: { type: string; data: object }) => [type, data]).reverse();
}

test('an event of a node names the run that ended, also when it is retried after a later reprocess of chosen inputs', async () => {
  const hook = await newHook();
  const graph = await stage.chainOf(1, { maxAttempts: 1 });
  const upload = await stage.upload(graph, 'input', '1');
  const runner = stage.runner();
  const acquired = async () => runner.acquire(graph.template, 10);

  const first = await acquired();
  await runner.end(first.taskId, 'fail', { category: 'validation', reason: 'broken' });
  await post(`/node-instance/${graph.nodes.n1}/reprocess`, { inputs: [upload.body.id] });
  const chosen = await acquired();
  await runner.end(chosen.taskId, 'complete', { outcome: 'no-output' });
  expect(await post(`/admin/node-runs/${first.runId}/retry`)).toMatchObject({ status: 202 });
  const retried = await acquired();
  expect(retried.runId).toBe(first.runId);
  await runner.end(retried.taskId, 'complete', { outcome: 'no-output' });

  expect(await eventsOf(hook)).toMatchObject([
    ['node.failed', { runId: first.runId }],
    ['node.succeeded', { runId: chosen.runId }],
    ['node.succeeded', { runId: first.runId }],
  ]);
});

test('an upload to a node makes no event of a run, and hides none', async () => {
  const hook = await newHook();
  const graph = await stage.chainOf(1, { maxAttempts: 1 });
  const runner = stage.runner();
  const acquired = async () => runner.acquire(graph.template, 10);

  await stage.upload(graph, 'input', '1');
  const failed = await acquired();
  await runner.end(failed.taskId, 'fail', { category: 'validation', reason: 'broken' });
  await stage.upload(graph, 'n1', 'by hand');
  await stage.upload(graph, 'input', '2');
  await stage.upload(graph, 'n1', 'while its run is queued');
  const succeeded = await acquired();
  await stage.upload(graph, 'n1', 'while its run is held');
  await runner.end(succeeded.taskId, 'complete', { outcome: 'no-output' });

  expect(await eventsOf(hook)).toMatchObject([
    ['node.failed', { runId: failed.runId }],
    ['node.succeeded', { runId: succeeded.runId, statusDetails: 'Finished without an output.' }],
  ]);
});

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

test('a delivery that is sent again is out of the order of its session: it holds up none of its later ones', async () => {
  const events = ['session.created', 'session.closed'];
  const { id } = (await admin('POST', path, { url: 'http://x/', events })).body;
  const { sessionId } = await stage.chainOf(1);
  const first = (await acquireDelivery(database, id))!;
  const attempt = { at: new Date().toISOString(), durationMs: 1, status: 200, error: null, response: '' };
  await recordAttempt(database, first, attempt, null);
  expect((await admin('POST', `${path}/${id}/deliveries/${first.id}/redeliver`)).status).toBe(202);
  const closed = await admin('POST', `/api/v2/session/${sessionId}/close`, {}, people.adminToken);
  expect(closed.status).toBe(200);
  const due = [await acquireDelivery(database, id), await acquireDelivery(database, id)];
  expect(due).toMatchObject([{ id: first.id }, { type: 'session.closed' }]);
});
