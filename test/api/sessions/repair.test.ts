import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { sessionWorkflowId, windowWorkflowId } from '../../../workflows/contract.ts';
import { sessionTarget } from '../../../workflows/targets.ts';
import { ask, startTestApi } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { openGate } from '../../support/network/gate.ts';
import { runnerStage, type StageGraph } from '../../support/runner.ts';
import { testWorkflows } from '../../support/workflows.ts';

const stage = await runnerStage();
const { api, people, database } = stage;
const temporal = await testWorkflows(stage.platform.environment);

const repair = (sessionId: string, { token = people.Developer.token, url = api.url } = {}) =>
  ask(url, 'POST', `/api/v2/admin/sessions/${sessionId}/repair`, { token });

/** A graph with an upload whose run is lost, as after an unforeseen fault. */
async function forgotten(): Promise<StageGraph> {
  const graph = await stage.chainOf(1);
  await stage.upload(graph, 'input', '1');
  await database.query('delete from node_attempt where session_id = $1', [graph.sessionId]);
  await database.query('delete from node_run where session_id = $1', [graph.sessionId]);
  return graph;
}

const running = (sessionId: string) =>
  eventually(
    'the workflow of the session runs',
    async () => (await temporal.statusOf(sessionId)) === 'RUNNING',
  );

test('due runs of a session are planned at once, exactly once', async () => {
  const graph = await forgotten();
  const runner = stage.runner();
  expect((await runner.claim(graph.template)).status).toBe(204);
  const first = await repair(graph.sessionId);
  expect(first).toMatchObject({ status: 202, body: { sessionId: graph.sessionId, planned: 1 } });
  expect((await repair(graph.sessionId)).body.planned).toBe(0);
  expect((await runner.acquire(graph.template)).nodeInstanceId).toBe(graph.nodes.n1);
});

test('an ended workflow is started again before the answer', async () => {
  const { sessionId } = await forgotten();
  await running(sessionId);
  await temporal.operator.workflow.getHandle(sessionWorkflowId(sessionId)).terminate('by an operator');
  expect((await repair(sessionId)).body.workflow).toBe('started');
  expect(await temporal.statusOf(sessionId)).toBe('RUNNING');
  expect((await repair(sessionId)).body.workflow).toBe('running');
});

test('the wait for a close ahead of time is started again, also of a session that is not shared', async () => {
  const { sessionId } = await stage.chainOf(1);
  const closeAt = new Date(Date.now() + 3_600_000).toISOString();
  const closed = await ask(api.url, 'POST', `/api/v2/session/${sessionId}/close`, {
    token: people.Administrator.token,
    json: { closeAt },
  });
  expect(closed.status).toBe(200);
  const window = temporal.operator.workflow.getHandle(windowWorkflowId(sessionId));
  const status = async () => (await window.describe().catch(() => undefined))?.status.name;
  await eventually('the workflow of the close runs', async () => (await status()) === 'RUNNING');
  await window.terminate('by an operator');
  expect((await repair(sessionId)).status).toBe(202);
  expect(await status()).toBe('RUNNING');
});

test('a workflow that cannot continue is restarted', async () => {
  const { sessionId } = await stage.chainOf(1);
  await temporal.startWorker('workflows');
  await temporal.operator.workflow.start('noSuchWorkflow', {
    workflowId: sessionWorkflowId(sessionId),
    taskQueue: stage.platform.taskQueue,
  });
  const target = sessionTarget({ sessionId, projectId: 1, templateName: 'any' });
  await eventually('its task fails', async () => (await temporal.workflows.health(target)) === 'failing');
  expect(await repair(sessionId)).toMatchObject({ status: 202, body: { workflow: 'restarted' } });
  await eventually(
    'the new one does its work',
    async () => (await temporal.statusOf(sessionId)) === 'COMPLETED',
  );
});

test('a run that is planned in a frozen session waits until it is unfrozen', async () => {
  const graph = await forgotten();
  const by = { token: people.Instructor.token };
  await ask(api.url, 'POST', `/api/v2/sessions/${graph.sessionId}/freeze`, by);
  // The worker of the test before may have planned it already.
  expect((await repair(graph.sessionId)).status).toBe(202);
  expect((await stage.runner().claim(graph.template)).status).toBe(204);
  await ask(api.url, 'POST', `/api/v2/sessions/${graph.sessionId}/unfreeze`, by);
  expect((await stage.runner().acquire(graph.template)).nodeInstanceId).toBe(graph.nodes.n1);
});

test('while the workflow engine is down the session is planned, and the answer says so', async () => {
  const graph = await forgotten();
  const away = await startTestApi({ ...stage.platform.environment, TEMPORAL_ADDRESS: '127.0.0.1:1' });
  try {
    expect(await repair(graph.sessionId, { url: away.url })).toMatchObject({
      status: 503,
      body: { message: 'The session is planned, and the workflow engine is unavailable.' },
    });
  } finally {
    await away.stop();
  }
  expect((await stage.runner().acquire(graph.template)).nodeInstanceId).toBe(graph.nodes.n1);
});

test('a workflow engine that needs more than two seconds for an answer is waited for', async () => {
  const { sessionId } = await stage.chainOf(1);
  const gate = await openGate(`http://${stage.platform.environment.TEMPORAL_ADDRESS}`);
  const far = await startTestApi({
    ...stage.platform.environment,
    TEMPORAL_ADDRESS: `127.0.0.1:${gate.port}`,
  });
  // A pause of the machine may take the rest of the limit, so one of several calls counts.
  const isRepaired = () => repair(sessionId, { url: far.url }).then(({ status }) => status === 202);
  try {
    await eventually('it is repaired', isRepaired);
    gate.set({ kind: 'slow', latencyMs: [1_100, 1_100], bytesPerSecond: 1_000_000 });
    await eventually('it is repaired through the slow line', isRepaired);
    expect(gate.treated).toBeGreaterThan(0);
  } finally {
    await far.stop();
    await gate.close();
  }
});

test('only Administrators and Developers may repair, and only an existing session', async () => {
  const { sessionId } = await stage.chainOf(1);
  expect((await repair(sessionId, { token: people.Administrator.token })).status).toBe(202);
  for (const role of ['Instructor', 'Trainee'] as const)
    expect((await repair(sessionId, { token: people[role].token })).status).toBe(403);
  expect(await repair(randomUUID())).toMatchObject({ status: 404, body: { message: 'Session not found.' } });
});
