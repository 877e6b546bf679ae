import { expect, test } from 'vitest';
import { ask } from '../../support/api.ts';
import { runnerStage, type StageGraph, type TestRunner } from '../../support/runner.ts';

const maxInputsPerTask = 2;
const stage = await runnerStage({ INCREMENTAL_MAX_INPUTS: String(maxInputsPerTask) });
const { api, people } = stage;

const named = (identifier: string) => ({ 'x-platform-output-identifier': identifier });
const replayOf = async (runId: string, attempt?: number) => {
  const path = `/api/v2/node-runs/${runId}/replay${attempt === undefined ? '' : `?attempt=${attempt}`}`;
  const { status, body } = await ask(api.url, 'GET', path, { token: people.Developer.token });
  expect(status).toBe(200);
  return body;
};
const reprocess = (graph: StageGraph) =>
  ask(api.url, 'POST', `/api/v2/node-instance/${graph.nodes.n1}/reprocess`, {
    token: people.Developer.token,
  });

/** What the holder reads at the beginning of its task, in the form of the replay. */
async function given(runner: TestRunner, taskId: string) {
  const { body: memory } = await runner.call('GET', `/tasks/${taskId}/state`);
  const listed = async (mode: string) => {
    const { body } = await runner.call('GET', `/tasks/${taskId}/inputs?mode=${mode}`);
    return body.inputs;
  };
  const [since, latest, all] = [await listed('since-watermark'), await listed('latest'), await listed('all')];
  const ids = (inputs: { outputId: number }[]) => inputs.map(({ outputId }) => outputId);
  return {
    state: memory.state,
    previousOutput: memory.previousOutput,
    inputs: all,
    modes: { 'since-watermark': ids(since), latest: ids(latest), all: ids(all) },
  };
}

test.each([true, false])(
  'tells the same as the task did, of each run of a node (incremental: %s)',
  async (incremental) => {
    const graph = await stage.chainOf(1, { incremental });
    const runner = stage.runner();
    for (const bytes of ['a', 'b', 'c']) await stage.upload(graph, 'input', bytes);
    const runs: { runId: string; view: Awaited<ReturnType<typeof given>> }[] = [];
    const runOnce = async (output: string) => {
      const task = await runner.acquire(graph.template);
      const current = await given(runner, task.taskId);
      runs.push({ runId: task.runId, view: current });
      await runner.write(task.taskId, output, named(output));
      if (incremental)
        await runner.call('PUT', `/tasks/${task.taskId}/watermark`, { inputId: current.modes.latest.at(-1) });
      expect(await replayOf(task.runId)).toMatchObject(current);
      await runner.end(task.taskId, 'complete', { outcome: 'completed' });
    };
    await runOnce('o1');
    await reprocess(graph);
    await runOnce('o2');
    await stage.upload(graph, 'input', 'd');
    await runOnce('o3');
    expect(runs.map(({ view }) => view.previousOutput?.outputIdentifier)).toEqual([undefined, 'o1', 'o2']);
    for (const { runId, view } of runs) expect(await replayOf(runId)).toMatchObject(view);
  },
);

test('tells the output that an earlier attempt of the run published, and none of its own attempt', async () => {
  const graph = await stage.chainOf(1, { incremental: true });
  const [one, two] = [await stage.upload(graph, 'input', '1'), await stage.upload(graph, 'input', '2')];
  const runner = stage.runner();
  const attempt = async (output: string, inputId: number) => {
    const task = await runner.acquire(graph.template);
    const current = await given(runner, task.taskId);
    await runner.write(task.taskId, output, named(output));
    await runner.call('PUT', `/tasks/${task.taskId}/watermark`, { inputId, state: { output } });
    return { task, given: current };
  };
  const first = await attempt('o1', one.body.id);
  await runner.end(first.task.taskId, 'release', {});
  const second = await attempt('o2', two.body.id);
  expect(second.given.previousOutput).toMatchObject({ outputIdentifier: 'o1' });
  expect(await replayOf(second.task.runId)).toMatchObject(second.given);
  await runner.end(second.task.taskId, 'complete', { outcome: 'no-output' });
  expect(await replayOf(second.task.runId)).toMatchObject(second.given);
});

test('lists no more inputs since the watermark than the task did', async () => {
  const graph = await stage.chainOf(1, { incremental: true });
  const ids: number[] = [];
  for (const bytes of ['1', '2', '3']) ids.push((await stage.upload(graph, 'input', bytes)).body.id);
  const runner = stage.runner();
  const task = await runner.acquire(graph.template);
  const current = await given(runner, task.taskId);
  expect(current.modes['since-watermark']).toEqual(ids.slice(0, maxInputsPerTask));
  expect(await replayOf(task.runId)).toMatchObject({ ...current, inputsTruncated: false });
});

test('tells how many attempts the run had at the claim, however often operators have retried it since', async () => {
  const graph = await stage.chainOf(1, { maxAttempts: 2 });
  await stage.upload(graph, 'input', '1');
  const runner = stage.runner();
  const given: object[] = [];
  let runId = '';
  for (const retries of [0, 1, 2]) {
    if (retries > 0)
      await ask(api.url, 'POST', `/api/v2/admin/node-runs/${runId}/retry`, { token: people.Developer.token });
    const { attempt, maxAttempts, ...task } = await runner.acquire(graph.template);
    runId = task.runId;
    given.push({ attempt, maxAttempts });
    await runner.end(task.taskId, 'fail', { category: 'validation', reason: 'broken' });
  }
  expect(given).toEqual([
    { attempt: 1, maxAttempts: 2 },
    { attempt: 2, maxAttempts: 3 },
    { attempt: 3, maxAttempts: 4 },
  ]);
  for (const [place, claim] of given.entries()) expect(await replayOf(runId, place + 1)).toMatchObject(claim);
});
