/** The order of built-in runs: that of claims, which priorities move, and not that in which Temporal queued them. */
import { afterAll, expect, test } from 'vitest';
import { sessionWorkflowId } from '../../workflows/contract.ts';
import { startTestApi } from '../support/api.ts';
import { openDatabase } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { testEnvironment } from '../support/stack.ts';
import { testWorkflows } from '../support/workflows.ts';
import { RecordingClient, type RecordingSession } from './recording-session.ts';

const platform = await testEnvironment();
const temporalSide = await testWorkflows(platform.environment);
const api = await startTestApi(platform.environment);
afterAll(() => api.stop());
const client = await RecordingClient.signIn(api.url, platform.administrator);
const database = await openDatabase(platform, 2);

/** Sessions with an upload, whose first built-in runs are queued in Temporal in this order. */
async function queuedSessions(count: number): Promise<RecordingSession[]> {
  const sessions: RecordingSession[] = [];
  while (sessions.length < count) {
    const session = await client.newSession();
    await session.upload({ identifier: 'a.csv', bytes: 'time,speed\n0,1\n1,2\n' });
    await eventually('its workflow waits for the run', async () => {
      const workflow = temporalSide.operator.workflow.getHandle(sessionWorkflowId(session.id));
      const { raw } = await workflow.describe();
      return raw.pendingActivities?.some(({ activityType }) => activityType?.name === 'runBuiltin');
    });
    sessions.push(session);
  }
  return sessions;
}

/** The sessions' places by the first claim of their runs. */
async function claimedOrder(sessions: readonly RecordingSession[]): Promise<number[]> {
  const rows = await database.query<{ sessionId: string }>(
    `select r.session_id from node_run r join node_claim c on c.run_id = r.id
      where r.session_id = any ($1::uuid[]) group by 1 order by min(c.claimed_at)`,
    [sessions.map(({ id }) => id)],
  );
  return rows.map(({ sessionId }) => sessions.findIndex(({ id }) => id === sessionId));
}

// Its start imports the shipped template.
await (await temporalSide.startWorker('builtin')).stop();
await temporalSide.startWorker('workflows');

/** With the built-in worker, until all are done. @returns the sessions' places by their first claims */
async function workThrough(sessions: readonly RecordingSession[], all = sessions): Promise<number[]> {
  const worker = await temporalSide.startWorker('builtin');
  for (const session of sessions) await session.settled();
  await worker.stop();
  return claimedOrder(all);
}

test('a run of high priority is claimed before those that were queued earlier', async () => {
  const sessions = await queuedSessions(10);
  const explain = () => client.call('GET', `/api/v2/node-instance/${sessions[9]!.nodeId(1)}/explain`);
  expect((await explain()).sentence).toMatch(
    /^Queued since .*Z behind 9 tasks of the platform's own workers\.$/,
  );
  await client.call('PATCH', `/api/v2/sessions/${sessions[9]!.id}`, { priority: 10 });
  expect((await explain()).sentence).toContain('behind 0 tasks');
  const order = await workThrough(sessions);
  expect(order).toHaveLength(10);
  // Temporal hands out runs of one queue in almost any order.
  expect(order.indexOf(9)).toBeLessThan(4);
});

test('a run of high priority that is never started does not keep others waiting', async () => {
  const sessions = await queuedSessions(4);
  await client.call('PATCH', `/api/v2/sessions/${sessions[3]!.id}`, { priority: 10 });
  const workflow = temporalSide.operator.workflow.getHandle(sessionWorkflowId(sessions[3]!.id));
  await workflow.terminate('as if Temporal had lost it');
  const order = await workThrough(sessions.slice(0, 3), sessions);
  expect(order.slice(0, 3).toSorted()).toEqual([0, 1, 2]);
});
