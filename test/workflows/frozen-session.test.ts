import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SessionWorld, sessionWorld } from '../api/sessions/support.ts';
import { eventually } from '../support/eventually.ts';
import { testEnvironment } from '../support/stack.ts';
import { testWorkflows } from '../support/workflows.ts';

const platform = await testEnvironment();
const temporalSide = await testWorkflows(platform.environment);
let world: SessionWorld;
beforeAll(async () => {
  world = await sessionWorld(platform);
  await temporalSide.startWorker('workflows');
});
afterAll(() => world.api.stop());

test('a frozen session runs no built-in node and keeps no workflow busy; unfrozen, it goes on to its end', async () => {
  const { call, upload } = world;
  const session = (
    await call('POST', '/session', { ProjectId: world.projectId, SessionTemplateId: world.templateId })
  ).body;
  expect((await upload(session.nodeInstances[0].id)).status).toBe(201);
  const state = async () => (await call('GET', `/api/v2/sessions/${session.id}`)).body.nodeInstances[1].state;
  await eventually(
    'its workflow waits for the node',
    async () => (await temporalSide.statusOf(session.id)) === 'RUNNING',
  );
  expect((await call('POST', `/api/v2/sessions/${session.id}/freeze`)).status).toBe(200);
  // Only now is there somebody who could run the node.
  await temporalSide.startWorker('builtin');
  await eventually(
    'the workflow ends',
    async () => (await temporalSide.statusOf(session.id)) === 'COMPLETED',
  );
  expect(await state()).toBe('Pending');
  expect((await call('POST', `/api/v2/sessions/${session.id}/unfreeze`)).status).toBe(200);
  await eventually('the node succeeds', async () => (await state()) === 'Succeeded');
  await eventually(
    'the workflow ends',
    async () => (await temporalSide.statusOf(session.id)) === 'COMPLETED',
  );
});
