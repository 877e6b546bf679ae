/** Which runners are present, for operators and for the explanation why a node waits. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../../domain/limits.ts';
import { ask } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { runnerStage, type StageGraph, type TestRunner } from '../../support/runner.ts';
import { administration } from './support.ts';

const stage = await runnerStage();
const { api, people } = stage;
const { waiters } = api.composed.services.runners;
const { drain, shown, unseen } = administration(stage);

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

  test('that signs off has its waiting claim answered without a task', async () => {
    const graph = await stage.chainOf(1);
    const runner = stage.runner();
    const waiting = runner.claim(graph.template, 60);
    await eventually('it waits', () => waiters.idleCount > 0);
    await signOff(runner);
    expect((await waiting).status).toBe(204);
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
