import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, expect, test } from 'vitest';
import { createBuiltinActivities } from '../../activities/run-builtin.ts';
import { activityNames } from '../../workflows/contract.ts';
import { startTestApi } from '../support/api.ts';
import { testEnvironment } from '../support/stack.ts';
import { testWorkflows } from '../support/workflows.ts';
import { RecordingClient } from './recording-session.ts';

const platform = await testEnvironment();
const temporalSide = await testWorkflows(platform.environment);
const api = await startTestApi(platform.environment);
afterAll(() => api.stop());
const client = await RecordingClient.signIn(api.url, platform.administrator);
// Its start imports the shipped template.
await (await temporalSide.startWorker('builtin')).stop();

test('an execution that finds its session frozen ends, and leaves the run to the one after the unfreeze', async () => {
  const session = await client.newSession();
  await session.upload({ identifier: 'a.csv', bytes: 'time,speed\n0,1\n1,2\n' });
  await client.call('POST', `/api/v2/sessions/${session.id}/freeze`);
  const { database, ...services } = api.composed.services;
  const [run] = await database.query<{ id: string }>('select id from node_run where session_id = $1', [
    session.id,
  ]);
  const disk = { room: { budgetBytes: 2 ** 30, reserveBytes: 0 }, unpackRatio: 200 };
  const activities = createBuiltinActivities({ database, ...services }, new AbortController().signal, disk);
  const execute = () =>
    new MockActivityEnvironment().run(activities[activityNames.runBuiltin], session.id, run!.id, 1);
  expect(await execute()).toEqual({ outcome: 'frozen' });
  await client.call('POST', `/api/v2/sessions/${session.id}/unfreeze`);
  expect(await execute()).toEqual({ outcome: 'completed' });
});
