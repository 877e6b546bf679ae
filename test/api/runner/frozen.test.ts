import { expect, test } from 'vitest';
import { ask } from '../../support/api.ts';
import { runnerStage } from '../../support/runner.ts';

const stage = await runnerStage();
const { api, people } = stage;
const { token } = people.Developer;

test('work that falls due in a frozen session is Pending and waits: a follow-up, and the child of an output', async () => {
  const graph = await stage.chainOf(2, { incremental: true });
  const inputs = [await stage.upload(graph, 'input', '1'), await stage.upload(graph, 'input', '2')];
  const progress = async () => {
    const { body } = await ask(api.url, 'GET', `/api/v2/session/${graph.sessionId}/node-instances`, {
      token,
    });
    return { nodes: body.nodeInstances.map((node: { state: string }) => node.state), ...body.summary };
  };
  const freeze = (how: string) =>
    ask(api.url, 'POST', `/api/v2/sessions/${graph.sessionId}/${how}`, { token });
  const runner = stage.runner();
  const task = await runner.acquire(graph.template);
  await freeze('freeze');
  await runner.write(task.taskId, 'o', { 'x-platform-watermark': String(inputs[0]!.body.id) });
  expect((await progress()).nodes).toEqual(['Succeeded', 'Processing', 'Pending']);
  const ended = await runner.end(task.taskId, 'complete', { outcome: 'completed', hasMore: true });
  expect(ended.body).toMatchObject({ nodeState: 'Pending', followUp: true });
  expect(await progress()).toMatchObject({
    nodes: ['Succeeded', 'Pending', 'Pending'],
    allSucceeded: false,
  });
  const { body: session } = await ask(api.url, 'GET', `/api/v2/sessions/${graph.sessionId}`, { token });
  expect(session).toMatchObject({ state: 'running', frozen: true });
  expect((await runner.claim(graph.template)).status).toBe(204);
  const waiting = runner.claim(graph.template, 20);
  await freeze('unfreeze');
  const first = await waiting;
  expect([first.status, first.body.nodeName]).toEqual([200, 'n2']);
  const second = await stage.runner().acquire(graph.template);
  expect(second).toMatchObject({ nodeName: 'n1', reason: 'follow-up' });
});
