/** Runners of the kit on the platform: leases, watermarks, rejected inputs, the next task, logs, replays. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { defineRunner, type Task, TaskFailure } from '../../sdk/index.ts';
import { runCase } from '../../sdk/testing.ts';
import { ask } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import type { StageGraph } from '../support/runner.ts';
import { faultProxy } from './support/fault-proxy.ts';
import { kitStage } from './support/kit-stage.ts';

const stage = await kitStage();
const { token } = stage.people.Developer;

/** An incremental node below these inputs, and a runner for it. */
async function incrementalNode(inputs: readonly string[], run: (task: Task) => Promise<void>) {
  const graph = await stage.chainOf(1, { incremental: true });
  for (const bytes of inputs) await stage.upload(graph, 'input', bytes);
  await stage.start(defineRunner({ templates: [graph.template], run }));
  return graph;
}

async function retry(graph: StageGraph): Promise<void> {
  const runs = '/api/v2/admin/node-runs';
  const { url } = stage.api;
  const { body } = await ask(url, 'GET', `${runs}?nodeInstanceId=${graph.nodes.n1}`, { token });
  const answer = await ask(url, 'POST', `${runs}/${body.nodeRuns[0].id}/retry`, { token });
  expect(answer.status).toBe(202);
}

test('a bad input costs no result of those before it, and a retry after the mend handles it alone', async () => {
  const handled: string[] = [];
  let isMended = false;
  const graph = await incrementalNode(['good 1', 'good 2', 'bad', 'good 3'], async (task) => {
    await task.eachNewInput(async (input) => {
      const text = await input.text();
      handled.push(text);
      await task.write(`table of ${text}`);
      await task.write(`summary of ${text}`);
      if (text === 'bad' && !isMended) throw new TaskFailure('validation', 'bad');
    });
  });
  await stage.until(graph, 'n1', 'Failed');
  expect((await stage.node(graph, 'n1')).statusDetails).toContain('validation: bad');
  const first = ['table of good 1', 'summary of good 1', 'table of good 2', 'summary of good 2'];
  expect(await stage.outputs(graph, 'n1')).toEqual(first);
  isMended = true;
  await retry(graph);
  await stage.until(graph, 'n1', 'Succeeded');
  const rest = ['table of bad', 'summary of bad', 'table of good 3', 'summary of good 3'];
  expect(await stage.outputs(graph, 'n1')).toEqual([...first, ...rest]);
  expect(handled).toEqual(['good 1', 'good 2', 'bad', 'bad', 'good 3']);
});

async function* slowly(text: string) {
  await sleep(200);
  yield text;
}

test('the watermark waits for outputs that the code did not wait for', async () => {
  const graph = await incrementalNode(['1', '2', 'bad'], async (task) => {
    await task.eachNewInput(
      async (input) => {
        const text = await input.text();
        if (text === 'bad') throw new TaskFailure('validation', 'bad');
        void task.write(slowly(`slow ${text}`));
        if (text === '1') await task.watermark.advance(input);
        else await task.write(`quick ${text}`, { watermark: input });
      },
      { advance: 'by-hand' },
    );
  });
  await stage.until(graph, 'n1', 'Failed');
  expect(await stage.outputs(graph, 'n1')).toEqual(['slow 1', 'slow 2', 'quick 2']);
});

test('the watermark stays where an output before it fails', async () => {
  const graph = await incrementalNode(['1'], async (task) => {
    async function* breaking() {
      yield 'begun';
      await sleep(50);
      throw new TaskFailure('validation', 'the source broke');
    }
    for await (const input of task.inputs()) {
      task.write(breaking()).catch(() => undefined);
      await task.write('quick', { watermark: input });
    }
  });
  await stage.until(graph, 'n1', 'Failed');
  expect(await stage.node(graph, 'n1')).toMatchObject({ statusDetails: 'validation: the source broke' });
  const { body } = await ask(stage.api.url, 'GET', `/api/v2/runner/debug/nodes/${graph.nodes.n1}/context`, {
    token,
  });
  expect(body.incremental).toMatchObject({ watermark: null, pendingInputs: 1 });
});

/** The shortest that a node template may have. */
const leaseSeconds = 10;

test('a runner that computes for longer than its lease, and lets nothing else in, keeps the task', async () => {
  const graph = await stage.chainOf(1, { leaseSeconds });
  await stage.startProcess('test/sdk/support/runners/behaviours.ts', {
    TEMPLATE: graph.template,
    BEHAVIOUR: 'busy',
    BUSY_MS: String((leaseSeconds + 3) * 1_000),
  });
  await stage.upload(graph, 'input', 'bytes');
  await stage.until(graph, 'n1', 'Succeeded');
  expect(await stage.latest(graph, 'n1')).toBe('computed true');
  expect(await stage.claims(graph, 'n1')).toMatchObject([{ attempt: 1, ending: 'complete' }]);
});

test("onBadInput 'reject' lists bad inputs at their node and goes on, with the state from before them", async () => {
  const graph = await stage.chainOf(1, { incremental: true });
  const runner = defineRunner({
    templates: [graph.template],
    onBadInput: 'reject',
    async run(task) {
      await task.eachNewInput(async (input) => {
        const text = await input.text();
        const state = ((await task.state.get()) ?? { sum: 0 }) as { sum: number };
        const before = state.sum;
        state.sum += 1_000;
        if (text === 'x') task.state.set(state);
        if (Number.isNaN(Number(text))) throw new TaskFailure('validation', `no number: ${text}`);
        const sum = before + Number(text);
        task.state.set({ sum });
        await task.write(`sum ${sum}`);
      });
    },
  });
  for (const text of ['1', 'x', 'y', '3']) await stage.upload(graph, 'input', text);
  await stage.start(runner);
  await stage.until(graph, 'n1', 'Succeeded');
  expect(await stage.outputs(graph, 'n1')).toEqual(['sum 1', 'sum 4']);
  const path = `/api/v2/node-instance/${graph.nodes.n1}/rejected-inputs`;
  const { body } = await ask(stage.api.url, 'GET', path, { token });
  const rejected = body.rejectedInputs.map(({ category, reason, sizeBytes }: Record<string, unknown>) => [
    category,
    reason,
    sizeBytes,
  ]);
  expect(rejected.sort()).toEqual([
    ['validation', 'no number: x', 1],
    ['validation', 'no number: y', 1],
  ]);
  const context = await ask(stage.api.url, 'GET', `/api/v2/runner/debug/nodes/${graph.nodes.n1}/context`, {
    token,
  });
  expect(context.body.incremental.pendingInputs).toBe(0);
  const [node] = await stage.database.query('select runner_state as state from node_instance where id = $1', [
    graph.nodes.n1,
  ]);
  expect(node).toEqual({ state: { sum: 4 } });
});

test('the next task comes with the end of one, also when the first answer is lost', async () => {
  const [graph, other] = [await stage.chainOf(1), await stage.chainOf(1)];
  const proxy = await faultProxy(stage.api.url);
  for (const each of [graph, other]) await stage.upload(each, 'input', 'x');
  proxy.spoil(/^PUT .*complete/, 'no-answer');
  const runner = defineRunner({
    templates: [graph.template, other.template],
    run: async (task) => void (await task.write('y')),
  });
  await stage.start(runner, { url: proxy.url });
  for (const each of [graph, other]) await stage.until(each, 'n1', 'Succeeded');
  await eventually('it waits for more', () => proxy.underWay(/claim/) === 1);
  // One claim for both tasks, and the one that waits.
  expect(proxy.count(/tasks\/claim/)).toBe(2);
  for (const each of [graph, other])
    expect(await stage.claims(each, 'n1')).toMatchObject([{ attempt: 1, ending: 'complete' }]);
});

interface Line {
  readonly source: string;
  readonly level: string;
  readonly message: string;
}

const get = async (path: string) => (await ask(stage.api.url, 'GET', path, { token })).body;

async function runOf(nodeInstanceId: number | undefined): Promise<string> {
  const [run] = await stage.database.query<{ id: string }>(
    'select id from node_run where node_instance_id = $1',
    [nodeInstanceId],
  );
  return run!.id;
}

/** Lines of the runner in the log of a run, once so many are there, or all when the run has ended. */
async function linesOf(runId: string, count = Number.POSITIVE_INFINITY): Promise<readonly string[]> {
  return await eventually('the lines', async () => {
    const page = await get(`/api/v2/node-runs/${runId}/logs?limit=1000`);
    const lines: readonly Line[] = page.entries.filter(({ source }: Line) => source === 'runner');
    if (!page.complete && lines.length < count) return undefined;
    return lines.map(({ level, message }) => `${level} ${message.split('\n')[0]}`);
  });
}

test('what a run logs and prints stands in its log, once, although answers were lost', async () => {
  const graph = await stage.chainOf(1);
  const proxy = await faultProxy(stage.api.url);
  proxy.spoil(/^POST .*\/logs/, 'no-answer', 'refuse', { status: 503 });
  const runner = defineRunner({
    templates: [graph.template],
    async run(task) {
      task.log.info('first');
      console.warn('second');
      await eventually('the lines are there', () => proxy.count(/logs/) === 4);
      throw new TaskFailure('validation', 'third');
    },
  });
  await stage.start(runner, { url: proxy.url });
  await stage.upload(graph, 'input', 'x');
  await stage.until(graph, 'n1', 'Failed');
  expect(await linesOf(await runOf(graph.nodes.n1))).toEqual([
    'info first',
    'warning second',
    'error TaskFailure: third',
  ]);
});

test('fields that the platform does not take are left out of their line, and no line is lost', async () => {
  const graph = await stage.chainOf(1);
  const deep = JSON.parse(`${'{"a":'.repeat(30)}1${'}'.repeat(30)}`);
  await stage.start(
    defineRunner({
      templates: [graph.template],
      async run(task) {
        task.log.info('first', { lap: 3 });
        task.log.info('deep', deep);
        return 'no-output' as const;
      },
    }),
  );
  await stage.upload(graph, 'input', 'x');
  await stage.until(graph, 'n1', 'Succeeded');
  const { entries } = await get(`/api/v2/node-runs/${await runOf(graph.nodes.n1)}/logs`);
  expect(entries.filter(({ source }: Line) => source === 'runner')).toMatchObject([
    { message: 'first', fields: { lap: 3 } },
    { message: 'deep', fields: { omitted: 'The fields have more than 20 levels.' } },
  ]);
});

test.each([
  ['leaves a rejection', 1, ', because no code caught this error: Error: nothing awaits this'],
  ['exits', 3, ' with code 3, before the task has ended.'],
])('a process whose code %s ends the attempt at once and says why', async (behaviour, code, why) => {
  const graph = await stage.chainOf(1, { maxAttempts: 1, leaseSeconds: 10 });
  const environment = { BEHAVIOUR: behaviour, TEMPLATE: graph.template };
  const child = await stage.startProcess('test/sdk/support/runners/behaviours.ts', environment);
  await stage.upload(graph, 'input', 'x');
  expect(await child.ended).toBe(code);
  expect(await linesOf(await runOf(graph.nodes.n1), 2)).toEqual([
    'info begun',
    `error The runner process ends${why}`,
  ]);
  await stage.until(graph, 'n1', 'Failed');
  expect((await stage.node(graph, 'n1')).statusDetails).toMatch(/^error: The runner process ends/);
});

test('a run that failed fails in the same way on its saved case', async () => {
  const graph = await stage.chainOf(1, { incremental: true });
  const runner = defineRunner({
    templates: [graph.template],
    async run(task) {
      await task.eachNewInput(async (input) => {
        const text = await input.text();
        if (text === 'bad') throw new TaskFailure('validation', `bad: ${input.outputIdentifier}`);
        await task.write(text.toUpperCase());
      });
    },
  });
  await stage.upload(graph, 'input', 'good');
  await stage.upload(graph, 'input', 'bad');
  await stage.start(runner);
  await stage.until(graph, 'n1', 'Failed');
  const at = `/api/v2/node-runs/${await runOf(graph.nodes.n1)}/replay`;
  const { inputs, state, previousOutput, modes, ...task } = await get(at);
  const folder = mkdtempSync(join(tmpdir(), 'sdp-case-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'inputs'));
  for (const { outputId } of inputs) {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${stage.api.url}${at}/inputs/${outputId}/data`, { headers });
    writeFileSync(join(folder, 'inputs', String(outputId)), Buffer.from(await answer.arrayBuffer()));
  }
  const saved = { caseVersion: 1, task, inputs, state, previousOutput, latest: modes.latest };
  writeFileSync(join(folder, 'case.json'), JSON.stringify(saved));
  const result = await runCase(folder, runner);
  const { statusDetails } = await stage.node(graph, 'n1');
  expect(statusDetails).toContain(`${result.category}: ${result.reason}`);
  expect(result.outputs.map((output) => output.text())).toEqual(['GOOD']);
  expect(result.outputs.map(({ identifier }) => identifier)).toEqual([`${task.runId}.0.1`]);
});
