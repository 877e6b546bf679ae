/** The orderly end of a runner process. */
import { getEventListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { defineRunner, startRunner, type Task } from '../../sdk/index.ts';
import { ask } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { contractStage } from './support/contract-stage.ts';
import { faultProxy } from './support/fault-proxy.ts';
import { kitStage } from './support/kit-stage.ts';

const stage = await kitStage();

async function process(BEHAVIOUR: string, variables: Record<string, string> = {}) {
  const graph = await stage.chainOf(1);
  const child = await stage.startProcess('test/sdk/support/runners/behaviours.ts', {
    TEMPLATE: graph.template,
    BEHAVIOUR,
    ...variables,
  });
  await stage.upload(graph, 'input', 'bytes');
  await eventually('it works', () => child.log().includes('waiting'));
  return { graph, child };
}

/** The states of the instances that claim tasks of the graph's node template, as operators see them. */
async function statesOf(graph: { readonly template: string }): Promise<readonly string[]> {
  const token = stage.people.Administrator.token;
  const { body } = await ask(stage.api.url, 'GET', '/api/v2/admin/runners?pageSize=100', { token });
  const rows = await stage.database.query<{ id: string }>(
    'select id from runner_instance where $1 = any (templates)',
    [graph.template],
  );
  const own = new Set(rows.map(({ id }) => id));
  return body.runners
    .filter(({ id }: { id: string }) => own.has(id))
    .map(({ state }: { state: string }) => state);
}

describe('a runner process that gets SIGTERM', () => {
  test('gives its unfinished task back, which counts as no attempt, and ends with code 0', async () => {
    const { graph, child } = await process('waits');
    child.kill('SIGTERM');
    expect(await child.ended).toBe(0);
    expect(await stage.node(graph, 'n1')).toMatchObject({ state: 'Pending' });
    expect(await statesOf(graph)).toEqual(['gone']);
    await stage.start(
      defineRunner({
        templates: [graph.template],
        async run(task) {
          await task.write(`attempt ${task.attempt}`);
        },
      }),
    );
    await stage.until(graph, 'n1', 'Succeeded');
    expect(await stage.claims(graph, 'n1')).toMatchObject([
      { attempt: 1, ending: 'release' },
      { attempt: 1, ending: 'complete' },
    ]);
  });

  test('finishes what is done within the grace', async () => {
    const { graph, child } = await process('soon', { SDP_RUNNER_GRACE_SECONDS: '20' });
    child.kill('SIGTERM');
    expect(await child.ended).toBe(0);
    expect(await stage.latest(graph, 'n1')).toBe('done in the time of grace');
  });

  test('releases the task also when its code ignores the signal', async () => {
    const { graph, child } = await process('stubborn');
    child.kill('SIGTERM');
    expect(await child.ended).toBe(0);
    expect(await stage.claims(graph, 'n1')).toMatchObject([{ ending: 'release' }]);
  });

  test('ends at once at a second signal', async () => {
    const { child } = await process('stubborn', { SDP_RUNNER_GRACE_SECONDS: '600' });
    child.kill('SIGTERM');
    await eventually('it has heard', () => child.log().includes('stops claiming tasks'));
    child.kill('SIGINT');
    expect(await child.ended).toBe(1);
  });
});

test('a loop over new inputs ends at a shutdown behind the input at hand, and a follow-up takes the rest', async () => {
  const graph = await stage.chainOf(1, { incremental: true });
  const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const runner = defineRunner({
    templates: [graph.template],
    async run(task) {
      await task.eachNewInput(async (input) => {
        begun.resolve();
        await goOn.promise;
        await task.write(await input.text());
      });
    },
  });
  for (const text of ['1', '2', '3']) await stage.upload(graph, 'input', text);
  const first = await stage.start(runner, { graceSeconds: 20 });
  await begun.promise;
  const stopped = first.stop();
  goOn.resolve();
  await stopped;
  expect(await stage.outputs(graph, 'n1')).toEqual(['1']);
  expect(await stage.node(graph, 'n1')).toMatchObject({ state: 'Pending' });
  await stage.start(runner);
  await stage.until(graph, 'n1', 'Succeeded');
  expect(await stage.outputs(graph, 'n1')).toEqual(['1', '2', '3']);
  expect(await stage.claims(graph, 'n1')).toMatchObject([{ ending: 'complete' }, { ending: 'complete' }]);
});

test('a loop over new inputs that a shutdown ends before its first input gives the task back', async () => {
  const graph = await stage.chainOf(1, { incremental: true });
  const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const runner = defineRunner({
    templates: [graph.template],
    async run(task) {
      begun.resolve();
      await goOn.promise;
      await task.eachNewInput(async (input) => task.write(await input.text()));
    },
  });
  await stage.upload(graph, 'input', '1');
  const first = await stage.start(runner, { graceSeconds: 20 });
  await begun.promise;
  const stopped = first.stop();
  goOn.resolve();
  await stopped;
  expect(await stage.claims(graph, 'n1')).toMatchObject([{ attempt: 1, ending: 'release' }]);
  await stage.start(runner);
  await stage.until(graph, 'n1', 'Succeeded');
  expect(await stage.outputs(graph, 'n1')).toEqual(['1']);
});

test('a runner that stops loses no task that is on its way to it', async () => {
  const graph = await stage.chainOf(1);
  const proxy = await faultProxy(stage.api.url);
  const arrival = Promise.withResolvers<void>();
  proxy.spoil(/^POST .*claim/, { heldUntil: arrival.promise });
  const runner = defineRunner({ templates: [graph.template], run: () => 'no-output' });
  const running = await stage.start(runner, { url: proxy.url });
  await stage.upload(graph, 'input', 'bytes');
  await eventually(
    'the platform has handed it out',
    async () => (await stage.claims(graph, 'n1')).length === 1,
  );
  const stopped = running.stop();
  await eventually('the runner has called again', () => proxy.count(/claim/) === 2);
  arrival.resolve();
  await stopped;
  expect((await stage.claims(graph, 'n1')).filter(({ ending }) => ending === null)).toEqual([]);
  const [run] = await stage.database.query(
    'select state, attempt, lost_count from node_run where node_instance_id = $1',
    [graph.nodes.n1],
  );
  expect(run).toEqual({ state: 'queued', attempt: 1, lostCount: 0 });
});

test('a platform that does not know how runners sign off disturbs none that ends', async () => {
  const graph = await stage.chainOf(1);
  const proxy = await faultProxy(stage.api.url);
  proxy.spoil(/^DELETE .*instances/, { status: 404 });
  const runner = defineRunner({ templates: [graph.template], run: () => 'no-output' });
  const running = await stage.start(runner, { url: proxy.url });
  await eventually('its claim waits', async () => (await statesOf(graph))[0] === 'waiting');
  await running.stop();
  expect(proxy.count(/^DELETE .*instances/)).toBe(1);
  expect(await statesOf(graph)).toEqual(['waiting']);
});

test('a process that gets a signal before the platform answers ends with code 0', async () => {
  const child = stage.spawn('test/sdk/support/runners/behaviours.ts', {
    SDP_URL: 'http://127.0.0.1:9',
    TEMPLATE: 'some',
    BEHAVIOUR: 'waits',
    SDP_RUNNER_LOG: 'debug',
  });
  await eventually('it tries', () => child.log().includes('trying again'));
  child.kill('SIGTERM');
  expect(await child.ended).toBe(0);
});

test('a process without settings says each of them, and ends with code 1', async () => {
  const child = stage.spawn('test/sdk/support/runners/behaviours.ts', {
    SDP_URL: 'nowhere',
    SDP_RUNNER_TOKEN: '',
    SDP_RUNNER_CONCURRENCY: '-1',
    TEMPLATE: 'some',
    BEHAVIOUR: 'waits',
  });
  expect(await child.ended).toBe(1);
  for (const name of ['SDP_URL', 'SDP_RUNNER_TOKEN', 'SDP_RUNNER_CONCURRENCY']) {
    expect(child.log()).toContain(name);
  }
});

test('a process whose token is refused ends with code 1', async () => {
  const child = stage.spawn('test/sdk/support/runners/behaviours.ts', {
    SDP_RUNNER_TOKEN: 'hat_nobody',
    TEMPLATE: 'some',
    BEHAVIOUR: 'waits',
  });
  expect(await child.ended).toBe(1);
  expect(child.log()).toMatch(/refuses the runner \(HTTP 401\): A valid bearer token.*SDP_RUNNER_TOKEN/);
});

test('a task that comes when the runner stops is released, which counts as no attempt', async () => {
  const contract = await contractStage();
  const [first, second] = [contract.offer('x'), contract.offer('y')];
  const { url, token } = contract.server;
  const goOn = Promise.withResolvers<void>();
  const held = contract.server.faults.add({ on: ['complete'], fault: { kind: 'hold', until: goOn.promise } });
  const runner = defineRunner({ templates: ['contract'], run: () => 'no-output' });
  const running = await startRunner(runner, {
    url,
    token,
    waitSeconds: 5,
    graceSeconds: 10,
    log: () => undefined,
  });
  await eventually('its end is on its way', () => held.hits.length === 1);
  const stopped = running.stop();
  await delay(50);
  goOn.resolve();
  await stopped;
  expect(first.runs[0]?.outcome).toBe('no-output');
  expect(second.runs[0]).toMatchObject({ state: 'queued', attempt: 1 });
  expect(second.runs[0]?.claims.map(({ end }) => end?.how)).toEqual(['release']);
});

test('a runner keeps no listener of a task that has ended, nor of itself', async () => {
  const { signal } = new AbortController();
  const listening = vi.spyOn(EventTarget.prototype, 'addEventListener');
  onTestFinished(() => listening.mockRestore());
  const graph = await stage.chainOf(1);
  const run = async (task: Task) => void (await task.write('x'));
  const runner = await stage.start(defineRunner({ templates: [graph.template], run }), { signal });
  const tasks = 5;
  for (let count = 1; count <= tasks; count += 1) {
    await stage.upload(graph, 'input', `bytes ${count}`);
    await eventually('the task ended', async () => {
      const claims = await stage.claims(graph, 'n1');
      return claims.length === count && claims.every(({ ending }) => ending === 'complete');
    });
  }
  const signals = new Set(listening.mock.contexts.filter((target) => target instanceof AbortSignal));
  const counts = [...signals].map((each) => getEventListeners(each, 'abort').length);
  expect(Math.max(...counts)).toBeLessThan(tasks);
  await runner.stop();
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
