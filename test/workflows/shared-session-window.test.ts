import { setTimeout } from 'node:timers/promises';
import proto from '@temporalio/proto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeSession } from '../../store/sessions/close-session.ts';
import { deleteSession, listEndingSessions } from '../../store/sessions/delete-session.ts';
import { joinOrOpen } from '../../store/sessions/shared-sessions.ts';
import { windowWorkflowId } from '../../workflows/contract.ts';
import { type SessionWorld, sessionWorld } from '../api/sessions/support.ts';
import { eventually } from '../support/eventually.ts';
import { testProcesses } from '../support/processes.ts';
import { testEnvironment } from '../support/stack.ts';
import { stretched } from '../support/stretched.ts';
import { testWorkflows } from '../support/workflows.ts';

const platform = await testEnvironment();
const temporalSide = await testWorkflows(platform.environment);
const processes = testProcesses(platform.environment);
let world: SessionWorld;
let worker: Awaited<ReturnType<typeof processes.startWorker>>;
beforeAll(async () => {
  world = await sessionWorld(platform);
  worker = await processes.startWorker('workflows');
});
afterAll(() => world.api.stop());

let exercises = 0;
/** A session whose capture begins now. */
async function open(fields: object = {}): Promise<string> {
  exercises += 1;
  const startTimeUtc = new Date().toISOString();
  const { status, body } = await world.join({ name: `Window ${exercises}`, startTimeUtc, ...fields });
  expect(status).toBe(201);
  return body.id;
}
const close = (id: string, json: object = {}, token = world.people.adminToken) =>
  world.call('POST', `/api/v2/session/${id}/close`, json, token);
const handleOf = (id: string) => temporalSide.operator.workflow.getHandle(windowWorkflowId(id));
const describeWindow = (id: string) => handleOf(id).describe();
const isStatus = (id: string, status: string) => async () =>
  (await describeWindow(id)).status.name === status;
const historyOf = async (id: string) => (await handleOf(id).fetchHistory()).events ?? [];
const summariesOf = async (id: string) =>
  (await historyOf(id)).map((event) => {
    const data = event.userMetadata?.summary?.data;
    return data ? String(JSON.parse(Buffer.from(data).toString())) : '';
  });
const row = async (id: string) =>
  (
    await world.query<{ windowDueAt: Date | null; closeEndedAt: Date | null; windowDirtySince: Date | null }>(
      `select window_due_at, close_ended_at, window_dirty_since
         from session where id = $1`,
      [id],
    )
  )[0]!;
const waitsWith = (id: string, text: string) =>
  eventually(`a timer that says ${text}`, async () =>
    (await summariesOf(id)).find((line) => line.includes(text)),
  );

test('operators see participants, window and the next event; the close ends it', async () => {
  const id = await open();
  const due = (await row(id)).windowDueAt!;
  await waitsWith(id, `waits for a close until ${due.toISOString()}`);
  const { status, memo, searchAttributes } = await describeWindow(id);
  expect(status.name).toBe('RUNNING');
  expect(memo).toMatchObject({
    participants: 1,
    window: expect.stringMatching(/Z\/.*Z$/),
    close: 'not closed',
  });
  expect(searchAttributes).toMatchObject({
    SessionId: [id],
    ProjectId: [world.projectId],
    SessionTemplate: ['one input'],
  });
  const { body } = await close(id);
  await eventually('the workflow ends', isStatus(id, 'COMPLETED'));
  expect(await handleOf(id).result()).toBe('Closed.');
  expect((await describeWindow(id)).memo).toMatchObject({ close: `closed at ${body.closedAt}` });
  expect((await row(id)).windowDueAt).toBeNull();
});

/** A device that finds the key busy for too long comes back after a second, as `Retry-After` says. */
async function joinAsDevice(machine: Parameters<typeof world.join>[0]): ReturnType<typeof world.join> {
  for (;;) {
    const answer = await world.join(machine);
    if (answer.status !== 503) return answer;
    await setTimeout(1_000 * Number(answer.headers.get('retry-after')));
  }
}

test('participants are counted, also a hundred at once, and none is shown by address', async () => {
  const name = 'Hundred';
  const startTimeUtc = new Date().toISOString();
  const joins = await Promise.all(
    Array.from({ length: 100 }, (_, machine) =>
      joinAsDevice({ name, startTimeUtc, email: `machine-${machine}@example.org` }),
    ),
  );
  const ids = new Set(joins.map((join) => join.body.id));
  expect(joins.map((join) => join.status).sort()).toEqual([...Array(99).fill(200), 201]);
  expect(ids.size).toBe(1);
  const [id] = [...ids];
  await eventually('all are shown', async () => (await describeWindow(id)).memo?.participants === 100);
  const history = proto.temporal.api.history.v1.History.encode({ events: await historyOf(id) }).finish();
  expect(Buffer.from(history).includes('example.org')).toBe(false);
  expect((await historyOf(id)).length).toBeLessThan(1_000);
});

test('a scheduled close happens in time, is recorded, and followers are notified', async () => {
  const listener = new pg.Client({ connectionString: platform.databaseUrl });
  await listener.connect();
  const heard: string[] = [];
  listener.on('notification', ({ payload }) => heard.push(payload ?? ''));
  await listener.query('listen session_closed');
  const id = await open();
  const closeAt = new Date(Date.now() + 3_000).toISOString();
  expect((await close(id, { closeAt, reason: 'secret words' })).body).toMatchObject({
    status: 'closed',
    closedAt: closeAt,
  });
  expect((await row(id)).closeEndedAt).toBeNull();
  await waitsWith(id, `the close falls due at ${closeAt}`);
  expect((await describeWindow(id)).memo).toMatchObject({ close: `falls due at ${closeAt}` });
  expect(heard).toEqual([]);
  await eventually('the workflow ends', isStatus(id, 'COMPLETED'));
  const { closeEndedAt, windowDueAt } = await row(id);
  const lateMs = closeEndedAt!.getTime() - Date.parse(closeAt);
  expect(lateMs).toBeGreaterThanOrEqual(0);
  expect(lateMs).toBeLessThan(stretched(2_000));
  expect(windowDueAt).toBeNull();
  await eventually('listeners hear', () => heard.includes(id));
  expect(await summariesOf(id)).toContain('the close falls due');
  const history = JSON.stringify(await historyOf(id));
  expect(history).not.toContain('secret words');
  await listener.end();
});

test('a scheduled close of a session that is not shared happens too', async () => {
  const session = await world.call('POST', '/session', {
    ProjectId: world.projectId,
    SessionTemplateId: world.templateId,
  });
  const id = session.body.id;
  const closeAt = new Date(Date.now() + 1_500).toISOString();
  expect((await close(id, { closeAt })).status).toBe(200);
  await eventually('the close has fallen due', async () => (await row(id)).closeEndedAt !== null);
  await eventually('the workflow ends', isStatus(id, 'COMPLETED'));
});

test('a day after the window it ends, and the session stays open', async () => {
  const start = new Date(Date.now() - 24 * 3_600_000 - 60_000);
  const id = await open({ startTimeUtc: start.toISOString(), timeWindowSeconds: 62 });
  await waitsWith(id, 'waits for a close until');
  await eventually('the workflow ends', isStatus(id, 'COMPLETED'));
  expect(await handleOf(id).result()).toBe('Over without a close.');
  expect((await world.call('GET', `/api/v2/sessions/${id}`)).body.metadata.status).toBe('open');
  const closed = await close(id);
  expect(closed.status).toBe(200);
});

test('of a window that lies years ahead the timer is of a month at most', async () => {
  const id = await open({ startTimeUtc: new Date(Date.now() + 730 * 24 * 3_600_000).toISOString() });
  await waitsWith(id, 'waits for a close until');
  const timers = (await historyOf(id)).flatMap((event) => event.timerStartedEventAttributes ?? []);
  expect(timers.map((timer) => Number(timer.startToFireTimeout?.seconds))).toEqual([30 * 24 * 3_600]);
});

test('ended from outside, or cancelled, it is restarted', async () => {
  const id = await open();
  for (const end of ['terminate', 'cancel'] as const) {
    await eventually('it runs', isStatus(id, 'RUNNING'));
    await waitsWith(id, 'waits for a close until');
    const { runId } = await describeWindow(id);
    await handleOf(id)[end]();
    await eventually('it has ended', async () => !(await isStatus(id, 'RUNNING')()));
    // The time of the next check comes.
    await world.query(`update session set window_checked_at = now() - interval '1 minute' where id = $1`, [
      id,
    ]);
    await eventually('it runs anew', async () => {
      const description = await describeWindow(id);
      return description.status.name === 'RUNNING' && description.runId !== runId;
    });
  }
});

test('it finds openings, joins and closes whose signal was lost', async () => {
  const { database } = world.api.composed.services;
  const person = (name: string) => ({ identifier: `anon:${name}`, key: `anon:${name}` });
  const request = {
    key: {
      projectId: world.projectId,
      sessionTemplateId: world.templateId,
      name: 'Untold',
      simulationName: 'sim',
      machineGroup: 1,
      timeWindowSeconds: 300,
    },
    startAt: new Date(),
    userId: world.people.Developer.userId,
  };
  const opened = await joinOrOpen(database, { ...request, participant: person('1') });
  if (opened.outcome !== 'created') throw new Error(opened.outcome);
  const id = opened.sessionId;
  const late = () =>
    world.query(
      `update session set window_dirty_since = now() - interval '1 minute', window_checked_at = now() - interval '1 minute'
        where id = $1 and window_dirty_since is not null`,
      [id],
    );
  await late();
  await eventually('it is started', isStatus(id, 'RUNNING'));
  await eventually('it has looked', async () => (await row(id)).windowDirtySince === null);
  await joinOrOpen(database, { ...request, participant: person('2') });
  await late();
  await eventually('both are shown', async () => (await describeWindow(id)).memo?.participants === 2);
  await closeSession(database, {
    sessionId: id,
    person: person('1'),
    mayCloseAny: false,
    reason: null,
    closeAt: null,
  });
  await late();
  await eventually('it has ended', isStatus(id, 'COMPLETED'));
});

test('a deleted session leaves no workflow, also when the engine did not answer then', async () => {
  const { database } = world.api.composed.services;
  const id = await open();
  await eventually('the window runs', isStatus(id, 'RUNNING'));
  const { body } = await world.call('GET', `/api/v2/sessions/${id}`);
  expect((await world.upload(body.nodeInstances[0].id)).status).toBe(201);
  const isGraphRunning = async () => (await temporalSide.statusOf(id)) === 'RUNNING';
  await eventually('the graph runs', isGraphRunning);
  expect(
    (await world.call('DELETE', `/api/v2/sessions/${id}`, undefined, world.people.adminToken)).status,
  ).toBe(204);
  // Terminated, or it found its session gone and ended by itself.
  expect((await describeWindow(id)).status.name).not.toBe('RUNNING');
  expect(await isGraphRunning()).toBe(false);
  const second = await open();
  await eventually('the window runs', isStatus(second, 'RUNNING'));
  await deleteSession(database, second);
  expect(await listEndingSessions(database, 0, 10)).toEqual([second]);
  await world.query(`update session_ending set requested_at = now() - interval '1 minute'`);
  await eventually('the window ends', async () => !(await isStatus(second, 'RUNNING')()));
  await eventually('nothing is left', async () => (await listEndingSessions(database, 0, 10)).length === 0);
});

test('a scheduled close happens in time after API and worker were killed and restarted', async () => {
  const api = await processes.startApi();
  const id = await open();
  const closeAt = new Date(Date.now() + 9_000).toISOString();
  const response = await fetch(`${api.url}/api/v2/session/${id}/close`, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.people.adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ closeAt }),
  });
  const first = (await response.json()) as { closedAt: string };
  expect([response.status, first.closedAt]).toEqual([200, closeAt]);
  await waitsWith(id, `the close falls due at ${closeAt}`);
  api.kill('SIGKILL');
  worker.kill('SIGKILL');
  await Promise.all([api.ended, worker.ended]);
  expect((await row(id)).closeEndedAt).toBeNull();
  worker = await processes.startWorker('workflows');
  const again = await processes.startApi();
  expect(Date.now()).toBeLessThan(Date.parse(closeAt) + stretched(20_000));
  await eventually('the close has fallen due', async () => (await row(id)).closeEndedAt !== null);
  const dueMs = (await row(id)).closeEndedAt!.getTime() - Date.parse(closeAt);
  expect(dueMs).toBeGreaterThanOrEqual(0);
  expect(dueMs).toBeLessThan(stretched(10_000));
  const repeat = await fetch(`${again.url}/session/${id}/close`, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.people.adminToken}` },
  });
  expect(await repeat.json()).toEqual(first);
});
