import { expect, test } from 'vitest';
import { runnerStage } from '../support/runner.ts';
import { commandLine } from './support.ts';

const { runSdp } = commandLine();
const stage = await runnerStage();
const { api, people } = stage;
const sdp = (...args: string[]) => runSdp(args, { SDP_URL: api.url, SDP_TOKEN: people.Developer.token });

test('rejected inputs are listed with their reasons, and a reprocess runs the node over them alone', async () => {
  const graph = await stage.chainOf(1, { incremental: true });
  const node = String(graph.nodes.n1);
  expect((await sdp('rejected', node)).out).toBe('No rejected inputs.\n');
  const none = await sdp('reprocess', node, '--rejected');
  expect([none.code, none.err]).toEqual([1, 'The node has no rejected inputs.\n']);
  const ids: number[] = [];
  for (const text of ['1', 'bad', '2']) ids.push((await stage.upload(graph, 'input', text)).body.id);
  const runner = stage.runner();
  const { taskId, runId } = await runner.acquire(graph.template);
  const why = { category: 'validation', reason: 'line 3: no time.' };
  await runner.call('PUT', `/tasks/${taskId}/rejections/${ids[1]}`, why);
  await runner.call('PUT', `/tasks/${taskId}/watermark`, { inputId: ids[2] });
  await runner.end(taskId, 'complete', { outcome: 'no-output' });
  const listed = await sdp('rejected', node);
  expect(listed.out).toContain('validation: line 3: no time.');
  expect(listed.out).toContain(runId);
  expect(JSON.parse((await sdp('rejected', node, '--json')).out).rejectedInputs).toMatchObject([
    { outputId: ids[1] },
  ]);
  const taken = async () => {
    const task = await runner.acquire(graph.template);
    const { body } = await runner.call('GET', `/tasks/${task.taskId}/inputs?mode=since-watermark`);
    await runner.end(task.taskId, 'complete', { outcome: 'no-output' });
    return body.inputs.map(({ outputId }: { outputId: number }) => outputId);
  };
  expect((await sdp('reprocess', node, '--rejected')).code).toBe(0);
  expect(await taken()).toEqual([ids[1]]);
  expect((await sdp('reprocess', node, '--inputs', String(ids[0]), String(ids[2]))).code).toBe(0);
  expect(await taken()).toEqual([ids[0], ids[2]]);
  for (const wrong of [
    ['--inputs', 'x'],
    ['--inputs', '1', '--rejected'],
  ])
    expect((await sdp('reprocess', node, ...wrong)).code).toBe(2);
});

test('a reprocess takes over more rejected inputs than one page of their list has', async () => {
  const graph = await stage.chainOf(1, { incremental: true });
  const uploaded = Array.from({ length: 101 }, (_, index) => stage.upload(graph, 'input', String(index)));
  const ids = (await Promise.all(uploaded)).map(({ body }) => body.id as number);
  const runner = stage.runner();
  const rejected: number[] = [];
  const read = async (taskId: string): Promise<number[]> => {
    const { body } = await runner.call('GET', `/tasks/${taskId}/inputs?mode=since-watermark&limit=500`);
    return body.inputs.map(({ outputId }: { outputId: number }) => outputId);
  };
  while (rejected.length < ids.length) {
    const { taskId } = await runner.acquire(graph.template);
    const found = await read(taskId);
    for (const id of found)
      await runner.call('PUT', `/tasks/${taskId}/rejections/${id}`, { category: 'validation', reason: 'no' });
    rejected.push(...found);
    await runner.call('PUT', `/tasks/${taskId}/watermark`, { inputId: found.at(-1) });
    const hasMore = rejected.length < ids.length;
    await runner.end(taskId, 'complete', { outcome: 'no-output', hasMore });
  }
  const again = await sdp('reprocess', String(graph.nodes.n1), '--rejected');
  expect([again.code, again.err]).toEqual([0, '']);
  const { taskId } = await runner.acquire(graph.template);
  expect(new Set(await read(taskId)).size).toBeGreaterThanOrEqual(100);
});
