import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { webhookWorkflowId } from '../../../workflows/contract.ts';
import { ask } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { runnerStage } from '../../support/runner.ts';
import { testWorkflows } from '../../support/workflows.ts';
import { answerWith, type Receiver, startReceiver } from './receiver.ts';

const stage = await runnerStage();
const { api, people, platform, database } = stage;
const environment = { ...platform.environment, WEBHOOK_ALLOWLIST: '127.0.0.0/8' };
const temporal = await testWorkflows(environment);
const path = '/api/v2/admin/webhooks';
const admin = (method: string, at: string, json?: unknown, token = people.Developer.token) =>
  ask(api.url, method, at, { token, json });

let receiver: Receiver;
beforeAll(async () => {
  await temporal.startWorker('workflows');
});
beforeEach(async () => {
  const hooks = (await admin('GET', path)).body as { id: string }[];
  for (const { id } of hooks) await admin('DELETE', `${path}/${id}`);
  await receiver?.stop();
  receiver = await startReceiver();
});
afterAll(() => receiver?.stop());

async function newWebhook(events: readonly string[], more: object = {}): Promise<string> {
  const made = await admin('POST', path, { url: receiver.url, events, ...more });
  expect(made.status).toBe(201);
  expect(made.body.secret).toMatch(/^whsec_[A-Za-z0-9+/=]{32}$/);
  receiver.secret = made.body.secret;
  return made.body.id;
}

const deliveriesOf = async (id: string, query = '') =>
  (await admin('GET', `${path}/${id}/deliveries${query}`)).body.deliveries;
const typesReceived = () => receiver.received.map(({ type }) => type);

/** A node that runs once over one upload. */
async function runNode(how: 'output' | 'failed') {
  const { template, ...graph } = await stage.chainOf(1, { maxAttempts: 1 });
  await stage.upload(graph, 'input', 't,v\n1,2\n', { 'content-type': 'text/csv' });
  const runner = stage.runner();
  const task = await runner.acquire(template, 10);
  if (how === 'output') {
    await runner.write(task.taskId, 'result', { 'x-platform-output-identifier': 'result' });
    expect((await runner.end(task.taskId, 'complete', { outcome: 'completed' })).status).toBe(200);
  } else {
    const failure = { category: 'validation', reason: 'no column velocity' };
    expect((await runner.end(task.taskId, 'fail', failure)).status).toBe(200);
  }
  return graph;
}

describe('a webhook', () => {
  test('receives what happens to a session in order, signed, each event with its facts', async () => {
    await newWebhook(['output.published', 'node.succeeded', 'session.settled', 'session.created']);
    const graph = await runNode('output');
    await eventually('all have come', () => receiver.received.length >= 5);
    expect(typesReceived()).toEqual([
      'session.created',
      'output.published',
      expect.stringMatching(/^(output.published|node.succeeded)$/),
      expect.stringMatching(/^(output.published|node.succeeded)$/),
      'session.settled',
    ]);
    expect(receiver.received.every(({ isGenuine }) => isGenuine)).toBe(true);
    const { sessionId, projectId } = graph;
    for (const { data, timestamp, headers } of receiver.received) {
      expect(data).toMatchObject({ sessionId, projectId, sessionName: 'Session' });
      expect(timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(headers['content-type']).toBe('application/json');
    }
    const published = receiver.received.filter(({ type }) => type === 'output.published');
    expect(published[0]!.data).toMatchObject({ nodeName: 'input', contentType: 'text/csv', sizeBytes: 8 });
    expect(published[1]!.data).toMatchObject({ outputIdentifier: 'result', runId: expect.any(String) });
    expect(receiver.received.at(-1)!.data).toMatchObject({ state: 'done', nodes: { failed: 0 } });
  });

  test('learns of a failure, and receives only the events that it names', async () => {
    await newWebhook(['node.failed', 'session.settled']);
    await runNode('failed');
    await eventually('both have come', () => receiver.received.length >= 2);
    expect(typesReceived()).toEqual(['node.failed', 'session.settled']);
    expect(receiver.received[0]!.data.statusDetails).toContain('no column velocity');
    expect(receiver.received[1]!.data).toMatchObject({ state: 'failed', nodes: { failed: 1 } });
  });

  test('learns that a session was closed, and when', async () => {
    await newWebhook(['session.closed']);
    const { sessionId, projectId } = await stage.chainOf(1);
    const closed = await admin('POST', `/api/v2/session/${sessionId}/close`, {}, people.adminToken);
    expect(closed.status).toBe(200);
    await eventually('it has come', () => receiver.received.length === 1);
    const { closedAt } = closed.body;
    expect(receiver.received[0]!.data).toEqual({ sessionId, sessionName: 'Session', projectId, closedAt });
  });

  test('of a project receives nothing of other projects, and a disabled one nothing', async () => {
    const { projectId } = await stage.chainOf(1);
    const id = await newWebhook(['session.created'], { projectId });
    const off = await admin('POST', path, { url: receiver.url, events: ['session.created'], enabled: false });
    await stage.chainOf(1);
    expect(await deliveriesOf(id)).toEqual([]);
    expect(await deliveriesOf(off.body.id)).toEqual([]);
    await database.query('update webhook set project_id = null where id = $1', [id]);
    await stage.chainOf(1);
    await eventually('one is recorded', async () => (await deliveriesOf(id)).length === 1);
  });

  test('that answers an error gets the delivery again, and what follows in its session waits for it', async () => {
    receiver.answer = (received, response) => {
      const isFirst = receiver.received.length === 1;
      answerWith(isFirst && received.type === 'session.created' ? 503 : 204)(received, response);
    };
    const id = await newWebhook(['session.created', 'output.published']);
    const graph = await stage.chainOf(1);
    await stage.upload(graph, 'input', 'bytes');
    const waiting = await eventually('the first has failed once', async () => {
      const [newest, oldest] = await deliveriesOf(id);
      return newest && oldest?.attempts.length === 1 && { newest, oldest };
    });
    expect(waiting.oldest).toMatchObject({ state: 'pending', attempts: [{ status: 503 }] });
    expect(waiting.newest).toMatchObject({ state: 'pending', nextAttemptAt: null, attempts: [] });
    await eventually('both have arrived', async () =>
      (await deliveriesOf(id)).every(({ state }: { state: string }) => state === 'delivered'),
    );
    expect(typesReceived()).toEqual(['session.created', 'session.created', 'output.published']);
    expect(receiver.received[0]!.id).toBe(receiver.received[1]!.id);
  });

  test.for([
    { form: 'seconds', value: () => '3600' },
    { form: 'a date', value: () => new Date(Date.now() + 3_600_000).toUTCString() },
  ])('that asks for a later attempt by $form gets it then', async ({ value }) => {
    receiver.answer = answerWith(429, { 'retry-after': value() });
    const id = await newWebhook(['session.created']);
    await admin('POST', `${path}/${id}/test`);
    await eventually('it has failed', async () => (await deliveriesOf(id))[0].attempts.length === 1);
    const [{ nextAttemptAt }] = await deliveriesOf(id);
    expect(Date.parse(nextAttemptAt) - Date.now()).toBeGreaterThan(3_500_000);
  });

  test('that redirects is not followed, and one that answers 410 is disabled', async () => {
    receiver.answer = answerWith(302, { location: `${receiver.url}&again=1` });
    const id = await newWebhook(['session.created']);
    expect((await admin('POST', `${path}/${id}/test`)).status).toBe(202);
    await eventually('it has failed', async () => (await deliveriesOf(id))[0].attempts.length === 1);
    expect((await deliveriesOf(id))[0].attempts[0]).toMatchObject({ status: 302, response: 'noted' });
    expect(receiver.received).toHaveLength(1);
    receiver.answer = answerWith(410);
    await admin('POST', `${path}/${id}/test`);
    const hook = await eventually('it is disabled', async () => {
      const { body } = await admin('GET', `${path}/${id}`);
      return body.enabled === false && body;
    });
    expect(hook.disabledReason).toBe('The receiver answered with status 410.');
    const refused = await admin('POST', `${path}/${id}/test`);
    expect(refused).toMatchObject({
      status: 400,
      body: { message: 'The webhook is disabled. Enable it first.' },
    });
  });

  test('that answers without an end, or not at all, holds up no other', async () => {
    const endless = await startReceiver();
    const silent = await startReceiver();
    endless.answer = (_received, response) => {
      response.writeHead(200);
      const more = setInterval(() => response.write('x'.repeat(65_536)), 1);
      response.on('close', () => clearInterval(more));
    };
    silent.answer = () => undefined;
    for (const { url } of [endless, silent]) await admin('POST', path, { url, events: ['session.created'] });
    const id = await newWebhook(['session.created']);
    await stage.chainOf(1);
    const [prompt] = await eventually('the other has it', async () => {
      const deliveries = await deliveriesOf(id);
      return deliveries[0]?.state === 'delivered' && deliveries;
    });
    const hooks = (await admin('GET', path)).body as { id: string; url: string }[];
    const of = (url: string) => hooks.find((hook) => hook.url === url)!.id;
    const [shown] = await eventually('the endless answer is cut', async () => {
      const deliveries = await deliveriesOf(of(endless.url));
      return deliveries[0]?.state === 'delivered' && deliveries;
    });
    expect(shown.attempts[0].response).toHaveLength(1_000);
    const [late] = await eventually('the silent one is given up', async () => {
      const deliveries = await deliveriesOf(of(silent.url));
      return deliveries[0]?.attempts.length === 1 && deliveries;
    });
    expect(late.attempts[0]).toMatchObject({
      status: null,
      error: 'The receiver did not answer within 10 seconds.',
    });
    // It came while the silent one was being waited for.
    const { at, durationMs } = late.attempts[0];
    expect(Date.parse(prompt.attempts[0].at)).toBeLessThan(Date.parse(at) + durationMs);
    await Promise.all([endless.stop(), silent.stop()]);
  });

  test('has its secret rotated with an overlap, in which both are good', async () => {
    const id = await newWebhook(['session.created']);
    const before = receiver.secret;
    const rotated = await admin('POST', `${path}/${id}/rotate-secret`);
    expect(rotated.status).toBe(200);
    expect(Date.parse(rotated.body.previousSecretUntil)).toBeGreaterThan(Date.now() + 23 * 3_600_000);
    for (const secret of [before, rotated.body.secret]) {
      receiver.secret = secret;
      await admin('POST', `${path}/${id}/test`);
      await eventually('it has come', () => receiver.received.at(-1)?.isGenuine === true);
      receiver.received.length = 0;
    }
    await database.query(`update webhook set previous_until = clock_timestamp() where id = $1`, [id]);
    receiver.secret = before;
    await admin('POST', `${path}/${id}/test`);
    await eventually('it has come', () => receiver.received.length === 1);
    expect(receiver.received[0]!.isGenuine).toBe(false);
    expect(JSON.stringify((await admin('GET', path)).body)).not.toContain('whsec_');
  });

  test('gets a delivery again on request, under the same id', async () => {
    const id = await newWebhook(['session.created']);
    await stage.chainOf(1);
    await eventually('it has come', async () => (await deliveriesOf(id))[0]?.state === 'delivered');
    const [delivery] = await deliveriesOf(id);
    const again = await admin('POST', `${path}/${id}/deliveries/${delivery.id}/redeliver`);
    expect(delivery.sessionId).toBe(delivery.data.sessionId);
    const { sessionId } = delivery;
    expect(again).toMatchObject({ status: 202, body: { id: delivery.id, state: 'pending', sessionId } });
    await eventually('it has come again', () => receiver.received.length === 2);
    expect(receiver.received[1]!.id).toBe(receiver.received[0]!.id);
    expect((await deliveriesOf(id))[0]).toMatchObject({ id: delivery.id, sessionId });
    const missing = await admin('POST', `${path}/${id}/deliveries/${id}/redeliver`);
    expect(missing.status).toBe(404);
  });

  test('is notified of a runner that signs off, once', async () => {
    const id = await newWebhook(['runner.gone']);
    const runner = stage.runner();
    const { template } = await stage.chainOf(1);
    expect((await runner.claim(template)).status).toBe(204);
    const left = await runner.call('DELETE', `/instances/${runner.instanceId}`);
    expect(left.status).toBeLessThan(300);
    await eventually('it has come', () => receiver.received.length === 1);
    expect(receiver.received[0]!.data).toMatchObject({ instanceId: runner.instanceId });
    const { reportGoneRunners } = await import('../../../store/runners/gone-runners.ts');
    await reportGoneRunners(database);
    expect(await deliveriesOf(id)).toHaveLength(1);
  });

  test('is a workflow that operators see while something is pending', async () => {
    receiver.answer = answerWith(500);
    const id = await newWebhook(['session.created']);
    await admin('POST', `${path}/${id}/test`);
    await eventually('it was tried', async () => (await deliveriesOf(id))[0].attempts.length > 0);
    const handle = temporal.operator.workflow.getHandle(webhookWorkflowId(id));
    expect((await handle.describe()).status.name).toBe('RUNNING');
    receiver.answer = answerWith(200);
    await eventually('it has ended', async () => (await handle.describe()).status.name === 'COMPLETED');
  });
});

test('a receiver inside the network is refused when it is connected to, and the answer reveals nothing', async () => {
  const id = await newWebhook(['session.created']);
  for (const url of [
    'http://10.255.255.1/',
    'http://169.254.169.254/',
    'http://[::1]:1/',
    'http://nowhere.invalid/',
  ]) {
    await admin('PUT', `${path}/${id}`, { url });
    const { body } = await admin('POST', `${path}/${id}/test`);
    const delivery = await eventually(`${url} was tried`, async () => {
      const found = (await deliveriesOf(id)).find((one: { id: string }) => one.id === body.id);
      return found.attempts.length > 0 && found;
    });
    expect(delivery.attempts[0]).toMatchObject({
      status: null,
      error: 'The host is unknown, or its address is not allowed.',
    });
  }
});

test('a change without a known field leaves a webhook as it is', async () => {
  const id = await newWebhook(['session.created']);
  const before = (await admin('GET', `${path}/${id}`)).body;
  expect((await admin('PUT', `${path}/${id}`, { unknown: 1 })).body).toEqual(before);
});

test('facts that were never announced are delivered all the same', async () => {
  const id = await newWebhook(['session.created']);
  await database.query(
    `insert into webhook_delivery (webhook_id, type, data, due_at) values ($1, 'session.created', '{}', clock_timestamp())`,
    [id],
  );
  await eventually('it has come', () => receiver.received.length === 1);
});
