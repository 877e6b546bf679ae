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

test('latest lists what a parent published last together, not all that its run published', async () => {
  const graph = await stage.chainOf(2, { incremental: true });
  for (const bytes of ['1', '2', '3']) await stage.upload(graph, 'input', bytes);
  const parent = await runner.acquire(graph.template);
  const { body } = await runner.call('GET', `/tasks/${parent.taskId}/inputs`);
  const published: number[] = [];
  for (const { outputId } of body.inputs) {
    const header = { 'x-platform-watermark': String(outputId) };
    published.push((await runner.write(parent.taskId, 'one', header)).body.outputId);
  }
  for (const bytes of ['two', 'three'])
    published.push((await runner.write(parent.taskId, bytes)).body.outputId);
  await runner.end(parent.taskId, 'complete', { outcome: 'completed' });
  const [last, lastTwo] = [published.at(-1)!, published.slice(-2)];
  const child = await runner.acquire(graph.template);
  const listed = async (taskId: string, mode: string) => {
    const { inputs } = (await runner.call('GET', `/tasks/${taskId}/inputs?mode=${mode}`)).body;
    return inputs.map(({ outputId }: { outputId: number }) => outputId);
  };
  expect(child.nodeName).toBe('n2');
  expect(await listed(child.taskId, 'all')).toEqual(published);
  expect(await listed(child.taskId, 'latest')).toEqual(lastTwo);
  await runner.call('PUT', `/tasks/${child.taskId}/watermark`, { inputId: last });
  await runner.end(child.taskId, 'complete', { outcome: 'no-output' });
  await reprocess(graph, 'n2');
  const again = await runner.acquire(graph.template);
  expect(await listed(again.taskId, 'since-watermark')).toEqual(lastTwo);
  expect(again.incremental).toMatchObject({ watermark: published.at(-3), pendingInputs: 2 });
  await runner.end(again.taskId, 'complete', { outcome: 'no-output' });
});

test('in a reprocess of chosen inputs the present watermark again is 200, though it is none of them', async () => {
  const graph = await stage.chainOf(1, { incremental: true });
  const ids: number[] = [];
  for (const bytes of ['1', '2', '3']) ids.push((await stage.upload(graph, 'input', bytes)).body.id);
  await consume(graph);
  const chosen = await ask(stage.api.url, 'POST', `/api/v2/node-instance/${graph.nodes.n1}/reprocess`, {
    token: stage.people.Developer.token,
    json: { inputs: [ids[2]] },
  });
  expect(chosen.status).toBe(202);
  const task = await runner.acquire(graph.template);
  expect(task.incremental).toMatchObject({ watermark: ids[1], pendingInputs: 1 });
  const move = (inputId: number) => runner.call('PUT', `/tasks/${task.taskId}/watermark`, { inputId });
  expect(await move(ids[1]!)).toMatchObject({ status: 200, body: { watermark: ids[1], pendingInputs: 1 } });
  const written = await runner.write(task.taskId, 'o', { 'x-platform-watermark': String(ids[1]) });
  expect(written.status).toBe(201);
  expect(await move(ids[0]!)).toMatchObject({ status: 409, body: { code: 'watermark_unknown_input' } });
  expect(await move(ids[2]!)).toMatchObject({ status: 200, body: { watermark: ids[2], pendingInputs: 0 } });
  await runner.end(task.taskId, 'complete', { outcome: 'completed' });
});
