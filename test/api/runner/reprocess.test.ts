import { expect, test } from 'vitest';
import { ask } from '../../support/api.ts';
import { runnerStage, type StageGraph } from '../../support/runner.ts';

const stage = await runnerStage();
const reprocess = (graph: StageGraph, node: string) =>
  ask(stage.api.url, 'POST', `/api/v2/node-instance/${graph.nodes[node]}/reprocess`, {
    token: stage.people.Developer.token,
  });
const runner = stage.runner();

/** Claims the task, consumes its inputs one by one as a runner does, and completes it. */
async function consume(graph: StageGraph, end: object = { outcome: 'completed' }, most = 100) {
  const task = await runner.acquire(graph.template);
  const { body } = await runner.call('GET', `/tasks/${task.taskId}/inputs`);
  const ids: number[] = body.inputs.map(({ outputId }: { outputId: number }) => outputId);
  for (const id of ids.slice(0, most)) {
    const written = await runner.write(task.taskId, `of ${id}`, { 'x-platform-watermark': String(id) });
    expect(written.status).toBe(201);
  }
  const ended = await runner.end(task.taskId, 'complete', end);
  expect(ended.status).toBe(200);
  return { task, ids, ended: ended.body };
}

test('a runner of an incremental node processes its latest input again, with the run’s own watermark', async () => {
  const graph = await stage.chainOf(1, { incremental: true });
  const ids: number[] = [];
  for (const bytes of ['1', '2', '3']) ids.push((await stage.upload(graph, 'input', bytes)).body.id);
  await consume(graph);
  expect((await reprocess(graph, 'n1')).status).toBe(202);
  const task = await runner.acquire(graph.template);
  expect(task).toMatchObject({ reason: 'reprocess', incremental: { watermark: ids[1], pendingInputs: 1 } });
  const inputs = (await runner.call('GET', `/tasks/${task.taskId}/inputs`)).body;
  expect(inputs.inputs).toMatchObject([{ outputId: ids[2] }]);
  expect(inputs.incremental).toMatchObject({ watermark: ids[1], pendingInputs: 1 });
  const back = await runner.call('PUT', `/tasks/${task.taskId}/watermark`, { inputId: ids[0] });
  expect(back).toMatchObject({ status: 409, body: { code: 'watermark_regression' } });
  const moved = await runner.call('PUT', `/tasks/${task.taskId}/watermark`, { inputId: ids[2] });
  expect(moved).toMatchObject({ status: 200, body: { watermark: ids[2], pendingInputs: 0 } });
  await runner.write(task.taskId, 'again');
  expect((await runner.end(task.taskId, 'complete', { outcome: 'completed' })).body.nodeState).toBe(
    'Succeeded',
  );
  expect((await runner.claim(graph.template)).status).toBe(204);
  const outputs = await ask(stage.api.url, 'GET', `/api/v2/node-instance/${graph.nodes.n1}/outputs`, {
    token: stage.people.Trainee.token,
  });
  expect(outputs.body).toHaveLength(4);
});

test('over all inputs, it continues after hasMore where it stopped', async () => {
  const graph = await stage.chainOf(1, { incremental: true });
  await stage.database.query(`update node_template set reprocess = 'all' where name = $1`, [graph.template]);
  const ids: number[] = [];
  for (const bytes of ['1', '2', '3']) ids.push((await stage.upload(graph, 'input', bytes)).body.id);
  await consume(graph);
  await reprocess(graph, 'n1');
  const first = await consume(graph, { outcome: 'completed', hasMore: true }, 2);
  expect(first).toMatchObject({
    task: { reason: 'reprocess', incremental: { watermark: null, pendingInputs: 3 } },
    ids,
    ended: { followUp: true, nodeState: 'Pending' },
  });
  expect(await consume(graph)).toMatchObject({
    task: { reason: 'follow-up', incremental: { watermark: ids[1], pendingInputs: 1 } },
    ids: [ids[2]],
    ended: { followUp: false, nodeState: 'Succeeded' },
  });
  const news = (await stage.upload(graph, 'input', '4')).body.id;
  expect(await consume(graph)).toMatchObject({
    task: { reason: 'input', incremental: { watermark: ids[2], pendingInputs: 1 } },
    ids: [news],
  });
});

test('a reprocessed Input node gives its runner the same bytes as a new input that names its original', async () => {
  const graph = await stage.chainOf(1);
  const original = (await stage.upload(graph, 'input', 'bytes', { 'x-platform-output-identifier': 'lap' }))
    .body.id;
  const first = await runner.acquire(graph.template);
  await runner.write(first.taskId, 'x');
  await runner.end(first.taskId, 'complete', { outcome: 'completed' });
  await reprocess(graph, 'input');
  const task = await runner.acquire(graph.template);
  const { inputs } = (await runner.call('GET', `/tasks/${task.taskId}/inputs`)).body;
  expect(inputs).toMatchObject([{ metadata: { $copyOf: { outputId: original, outputIdentifier: 'lap' } } }]);
  expect(inputs[0].outputId).not.toBe(original);
  expect((await runner.read(task.taskId, inputs[0].outputId)).bytes.toString()).toBe('bytes');
  await runner.end(task.taskId, 'release');
});
