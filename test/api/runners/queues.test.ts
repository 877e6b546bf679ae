import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ask } from '../../support/api.ts';
import { platformState } from '../../support/eventually.ts';
import { outsideTemplate } from '../../support/graph.ts';
import { runnerStage } from '../../support/runner.ts';
import { newRunnerType, tokenStage } from '../runner-tokens/support.ts';
import { administration } from './support.ts';

const stage = await runnerStage();
const { database, people } = stage;
const { drain } = administration(stage);
const list = (token = people.Developer.token) => ask(stage.api.url, 'GET', '/api/v2/admin/queues', { token });
async function queueOf(nodeTemplate: string) {
  const { status, body } = await list();
  expect(status).toBe(200);
  return body.queues.find((queue: { nodeTemplate: string }) => queue.nodeTemplate === nodeTemplate);
}
const none = { waiting: 0, busy: 0, drained: 0, gone: 0 };

describe('the list of queues', () => {
  test('says what waits, since when, what is held, and what ended', async () => {
    const { graph, runnerType, runner: newRunner } = await tokenStage(stage);
    expect(await queueOf(graph.template)).toEqual({
      runnerType,
      runtime: 'external',
      nodeTemplate: graph.template,
      waiting: 0,
      oldestWaitSeconds: null,
      held: 0,
      limits: [],
      runners: none,
      lastHour: { completed: 0, failed: 0, completedPerHour: 0, seconds: 3_600 },
    });
    await stage.upload(graph, 'input', '1');
    await database.query(
      `update node_attempt set available_at = available_at - interval '1 minute' where session_id = $1`,
      [graph.sessionId],
    );
    const waiting = await queueOf(graph.template);
    expect(waiting).toMatchObject({ waiting: 1, held: 0, runners: none });
    expect(waiting.oldestWaitSeconds).toBeGreaterThan(59);
    const runner = newRunner();
    const task = await runner.acquire(graph.template);
    expect(await queueOf(graph.template)).toMatchObject({
      waiting: 0,
      oldestWaitSeconds: null,
      held: 1,
      runners: { ...none, busy: 1 },
    });
    await runner.write(task.taskId, 'x', { 'x-platform-output-identifier': 'x' });
    await runner.end(task.taskId, 'complete', { outcome: 'completed' });
    expect(await queueOf(graph.template)).toMatchObject({
      held: 0,
      runners: { ...none, waiting: 1 },
      lastHour: { completed: 1, failed: 0, completedPerHour: 1 },
    });
  });

  test('counts failures, drained runners and those that are gone', async () => {
    const { graph, runner: newRunner } = await tokenStage(stage);
    await stage.upload(graph, 'input', '1');
    const [failing, leaving] = [newRunner(), newRunner()];
    const task = await failing.acquire(graph.template);
    await failing.end(task.taskId, 'fail', { category: 'validation', reason: 'No.' });
    await leaving.claim(graph.template);
    await drain(failing);
    await database.query(`update runner_instance set signed_off_at = now() where instance_id = $1`, [
      leaving.instanceId,
    ]);
    expect(await queueOf(graph.template)).toMatchObject({
      lastHour: { completed: 0, failed: 1 },
      runners: { waiting: 0, busy: 0, drained: 1, gone: 1 },
    });
  });

  test('shows first what waits longest, and counts accounts for external runner types', async () => {
    const template = `t-${randomUUID()}`;
    await outsideTemplate(database, template, { runnerType: await newRunnerType(stage) });
    const { graph } = await tokenStage(stage);
    await stage.upload(graph, 'input', '1');
    const account = stage.runner();
    const task = await account.claim([]);
    expect(task.status).toBe(200);
    const { body } = await list();
    const names = body.queues.map((queue: { nodeTemplate: string }) => queue.nodeTemplate);
    expect(names.indexOf(graph.template)).toBeLessThan(names.indexOf(template));
    expect((await queueOf(template)).runners.busy).toBe(1);
    await account.end(task.body.taskId, 'release');
    await account.call('DELETE', `/instances/${account.instanceId}`);
    expect((await queueOf(template)).runners.busy).toBe(0);
  });

  test('tells operators of each template that waits how many runners are there, without drained and gone ones', async () => {
    const { graph, runnerType, runner: newRunner } = await tokenStage(stage);
    const seen = async () =>
      (await platformState(database)).queues.find(({ template }) => template === graph.template);
    const [drained, gone, there] = [newRunner(), newRunner(), newRunner()];
    for (const runner of [drained, gone, there]) await runner.claim(graph.template);
    await drain(drained);
    await drain(there);
    await database.query(`update runner_instance set signed_off_at = now() where instance_id = $1`, [
      gone.instanceId,
    ]);
    expect(await seen()).toBeUndefined();
    await stage.upload(graph, 'input', '1');
    expect(await seen()).toMatchObject({ runnerType, tasks: 1, runners: 0 });
    await database.query(`update runner_instance set drained = false where instance_id = $1`, [
      there.instanceId,
    ]);
    expect(await seen()).toMatchObject({ runnerType, tasks: 1, runners: 1 });
  });

  test('is for administrators and developers', async () => {
    expect((await list(people.Trainee.token)).status).toBe(403);
    expect((await list(people.Administrator.token)).status).toBe(200);
  });
});
