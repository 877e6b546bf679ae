/** Which runners are present, for operators and for the explanation why a node waits; and drained ones. */
import { afterAll, describe, expect, test } from 'vitest';
import { limits } from '../../../domain/limits.ts';
import { ask, startTestApi } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { upload } from '../../support/graph.ts';
import { runnerStage, type StageGraph, type TestRunner } from '../../support/runner.ts';
import { tokenStage } from '../runner-tokens/support.ts';
import { administration } from './support.ts';

const stage = await runnerStage();
const { api, database, people } = stage;
const { waiters } = api.composed.services.runners;
const { admin, drain, shown, unseen } = administration(stage);

const stateOf = async (runner: TestRunner) => (await shown(runner.instanceId)).state;
const signOff = (runner: TestRunner) => runner.call('DELETE', `/instances/${runner.instanceId}`);
/** A runner that waited for a task of the graph's node template and got none. */
async function idle(graph: StageGraph): Promise<TestRunner> {
  const runner = stage.runner();
  expect((await runner.claim(graph.template)).status).toBe(204);
  return runner;
}
async function explained(graph: StageGraph): Promise<string> {
  const path = `/api/v2/node-instance/${graph.nodes.n1}/explain`;
  return (await ask(api.url, 'GET', path, { token: people.Trainee.token })).body.sentence;
}

describe('a runner', () => {
  test('waits, is busy, is drained, and is gone when it signs off or was not seen for long', async () => {
    const graph = await stage.chainOf(1);
    const runner = await idle(graph);
    expect(await stateOf(runner)).toBe('waiting');
    await stage.upload(graph, 'input', 'a');
    const task = await runner.acquire(graph.template);
    await unseen(runner, limits.runnerGoneSeconds + 10);
    expect(await stateOf(runner)).toBe('busy');
    await runner.end(task.taskId, 'release');
    await unseen(runner, limits.runnerGoneSeconds + 10);
    expect(await stateOf(runner)).toBe('gone');
    await unseen(runner, limits.runnerGoneSeconds - 10);
    expect(await stateOf(runner)).toBe('waiting');
    await drain(runner);
    expect(await stateOf(runner)).toBe('drained');
    await drain(runner, 'DELETE');
    expect((await signOff(runner)).status).toBe(204);
    expect(await stateOf(runner)).toBe('gone');
    await runner.end((await runner.acquire(graph.template)).taskId, 'complete', { outcome: 'no-output' });
    expect(await stateOf(runner)).toBe('waiting');
  });

  test('that signs off has its waiting claim answered at once, without a task', async () => {
    const graph = await stage.chainOf(1);
    const runner = stage.runner();
    const waiting = runner.claim(graph.template, 60);
    await eventually('it waits', () => waiters.idleCount > 0);
    const startedAtMs = performance.now();
    await signOff(runner);
    expect((await waiting).status).toBe(204);
    // Far less than it would have waited.
    expect(performance.now() - startedAtMs).toBeLessThan(30_000);
    expect(await stateOf(runner)).toBe('gone');
  });

  test('can only sign itself off', async () => {
    const graph = await stage.chainOf(1);
    const runner = await idle(graph);
    const other = stage.runner({ token: people.Administrator.token, instanceId: runner.instanceId });
    expect((await signOff(other)).status).toBe(204);
    expect(await stateOf(runner)).toBe('waiting');
    expect(await runner.call('DELETE', '/instances/a%20b')).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
  });
});

describe('why a node waits', () => {
  test('counts only present runners that may claim the task and do', async () => {
    const [graph, another] = [await stage.chainOf(1), await stage.chainOf(1)];
    await idle(another);
    const drained = await idle(graph);
    await drain(drained);
    const [gone, silent] = [await idle(graph), await idle(graph)];
    await stage.upload(graph, 'input', 'a');
    expect(await explained(graph)).toContain('of 2 runners of type outside-runner 0 are busy.');
    await signOff(gone);
    expect(await explained(graph)).toContain('of 1 runner of type outside-runner 0 are busy.');
    await unseen(silent, limits.runnerGoneSeconds + 10);
    expect(await explained(graph)).toMatch(/; 1 runner of type outside-runner is drained\.$/);
    await signOff(drained);
    expect(await explained(graph)).toMatch(
      /^No runner of type outside-runner is connected; the last was seen \d+ minutes? ago\. Queued since .*Z\.$/,
    );
  });
});

const second = await startTestApi(stage.platform.environment);
afterAll(() => second.stop());

/** Durations of five rounds, the shortest first: on a busy machine one may be late. */
async function rounds(once: () => Promise<number>): Promise<number[]> {
  const delays: number[] = [];
  for (let round = 0; round < 5; round += 1) delays.push(await once());
  return delays.sort((one, other) => one - other);
}

describe('a drained instance', () => {
  test('finishes its task and gets no more until it is undrained', async () => {
    const { graph, runner: newRunner } = await tokenStage(stage, { length: 2 });
    await upload(database, graph, 'input');
    const [runner, other] = [newRunner(), newRunner()];
    const task = await runner.acquire(graph.template);
    expect(await drain(runner)).toMatchObject({
      status: 200,
      body: { drained: true, task: { taskId: task.taskId } },
    });
    const heartbeat = await runner.call('PUT', `/tasks/${task.taskId}/heartbeat`, {});
    expect(heartbeat.body.cancelRequested).toBe(false);
    await runner.write(task.taskId, 'a');
    expect((await runner.end(task.taskId, 'complete', { outcome: 'completed' })).status).toBe(200);
    expect((await runner.claim(graph.template)).status).toBe(204);
    expect((await runner.claim([])).status).toBe(204);
    expect(await drain(runner, 'DELETE')).toMatchObject({
      status: 200,
      body: { drained: false, task: null },
    });
    expect((await runner.claim(graph.template)).status).toBe(200);
    expect((await other.claim(graph.template)).status).toBe(204);
  });

  test('waits its time, while others claim ready tasks at once', async () => {
    const drained = stage.runner();
    await drained.claim((await stage.chainOf(1)).template);
    expect((await drain(drained)).status).toBe(200);
    const delays = await rounds(async () => {
      const graph = await stage.chainOf(1);
      const startedAtMs = performance.now();
      const resting = drained.claim(graph.template, 1);
      await eventually('it waits', () => waiters.idleCount === 1);
      const claimed = stage.runner().claim(graph.template, 30);
      await eventually('both wait', () => waiters.idleCount === 2);
      await upload(database, graph, 'input');
      const readyAtMs = performance.now();
      expect((await claimed).status).toBe(200);
      const delayMs = performance.now() - readyAtMs;
      expect((await resting).status).toBe(204);
      expect(performance.now() - startedAtMs).toBeGreaterThan(990);
      return delayMs;
    });
    // The poll of a second would show in most of them.
    expect(delays[2]).toBeLessThan(250);
  });

  test('that is drained while its claim waits, at any process, gets no task; undrained it gets one at once', async () => {
    const runner = stage.runner({ url: second.url });
    const theirs = second.composed.services.runners.waiters;
    const delays = await rounds(async () => {
      const graph = await stage.chainOf(1);
      const claimed = runner.claim(graph.template, 60);
      await eventually('it waits', () => theirs.idleCount === 1);
      await drain(runner);
      await eventually('it rests', () => theirs.drainedCount === 1);
      await upload(database, graph, 'input');
      expect(theirs.count).toBe(1);
      expect((await shown(runner.instanceId)).task).toBeNull();
      const { id } = await shown(runner.instanceId);
      const startedAtMs = performance.now();
      await admin('DELETE', `/${id}/drain`);
      const answer = await claimed;
      expect(answer.status).toBe(200);
      const delayMs = performance.now() - startedAtMs;
      await runner.end(answer.body.taskId, 'complete', { outcome: 'no-output' });
      return delayMs;
    });
    expect(delays[2]).toBeLessThan(250);
  });

  test('gets no task from a claim concurrent with the draining', async () => {
    const graph = await stage.chainOf(1);
    const runners = Array.from({ length: 12 }, () => stage.runner());
    for (const runner of runners) await runner.claim(graph.template);
    await upload(database, graph, 'input');
    const ids = await Promise.all(runners.map(async ({ instanceId }) => (await shown(instanceId)).id));
    const answers = await Promise.all(
      runners.map(async (runner, at) => {
        const draining = admin('POST', `/${ids[at]}/drain`);
        const claim = runner.claim(graph.template);
        await draining;
        // However the claim under way ended, it gets no task from now on.
        const next = await claim.then(() => runner.claim(graph.template));
        return next.status;
      }),
    );
    expect(answers).toEqual(runners.map(() => 204));
  });
});
