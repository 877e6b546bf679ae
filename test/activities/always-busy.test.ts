/**
 * A session whose built-in run is under way at every moment: its workflow nevertheless continues in a new history, and
 * the run is executed once. At the engine's hard limit of events a workflow is terminated: that is the second part.
 */
import { afterAll, expect, test } from 'vitest';
import { sessionWorkflowId, wakeSignal } from '../../workflows/contract.ts';
import { openDatabase } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { openGate } from '../support/network/gate.ts';
import { importGated, type RecordingSession, recordingStage } from './recording-session.ts';

const { client, platform, temporalSide } = await recordingStage();
const database = await openDatabase(platform, 4);
const gate = await openGate(platform.s3.endpoint);
afterAll(() => gate.close());
await importGated(client, platform.s3, gate.url);

/** A session whose recording is converted again, from a slow source. */
async function busySession() {
  const session = await client.newSession('gated');
  const lines = Array.from({ length: 40_000 }, (_, second) => `${second},${second % 7}`);
  await session.upload({ identifier: 'long.csv', bytes: `time,speed\n${lines.join('\n')}\n` });
  await session.settled();
  gate.set({ kind: 'slow', latencyMs: [0, 0], bytesPerSecond: 5_000 });
  await client.call('POST', `/api/v2/node-instance/${session.nodeId(1)}/reprocess`);
  const workflow = temporalSide.operator.workflow.getHandle(sessionWorkflowId(session.id));
  /** The latest execution, the number of its attempts to execute the run, and whether it is at a workflow task. */
  const execution = async () => {
    const { runId, historyLength, status, raw } = await workflow.describe();
    const decides = Boolean(raw.pendingWorkflowTask);
    const tries = raw.pendingActivities?.find(
      ({ activityType }) => activityType?.name === 'runBuiltin',
    )?.attempt;
    return { runId, historyLength, status: status.name, tries: tries ?? 0, decides };
  };
  const first = await eventually('it is executed', async () => {
    const now = await execution();
    return (await claimsOf(session)).some(({ open }) => open) && now.tries > 0 && now;
  });
  return { session, workflow, execution, first };
}

const claimsOf = (session: RecordingSession) =>
  database.query<{ open: boolean }>(
    `select c.ended_at is null as open from node_claim c join node_run r on r.id = c.run_id
      where r.session_id = $1 and r.reason = 'reprocess'`,
    [session.id],
  );

test('it continues as new during the run, also after a termination, and executes the run once', async () => {
  const { session, workflow, execution, first } = await busySession();
  // Without the platform's deadline for a call: a hundred at once may be slower.
  const wake = () => workflow.signal(wakeSignal);
  // While a workflow task runs, the server buffers a hundred events; with more it fails the task, and waits longer before
  // each further try. A signal that comes between a task and its answer makes it refuse to continue as new.
  const second = await eventually('a fresh history', async () => {
    const now = await execution();
    if (now.runId !== first.runId) return now;
    const count = now.historyLength < 1_900 ? 50 : 1;
    if (!now.decides) await Promise.all(Array.from({ length: count }, wake));
    return false;
  });
  // By then the first execution has learned that its activity is gone.
  await eventually('it waits for the first execution', async () => (await execution()).tries >= 9);
  expect(await claimsOf(session)).toEqual([{ open: true }]);

  await workflow.terminate('too many events');
  await database.query(
    `update session set checked_at = clock_timestamp() - interval '50 seconds' where id = $1`,
    [session.id],
  );
  await eventually('it waits again', async () => {
    const now = await execution();
    return now.runId !== second.runId && now.tries >= 2;
  });
  gate.set({ kind: 'pass' });
  expect((await session.settled()).map(({ state }) => state)).toEqual(['Succeeded', 'Succeeded']);
  expect(await claimsOf(session)).toEqual([{ open: false }]);
  await eventually('the workflow ends', async () => (await execution()).status === 'COMPLETED');
});
