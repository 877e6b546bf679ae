import { expect, test } from 'vitest';
import { ask } from '../../support/api.ts';
import { runnerStage } from '../../support/runner.ts';

const stage = await runnerStage();
const { api, people } = stage;
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
