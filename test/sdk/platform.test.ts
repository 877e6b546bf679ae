/** Runners of the kit on the platform: leases, watermarks, rejected inputs, the next task. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { defineRunner, type Task, TaskFailure } from '../../sdk/index.ts';
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

test("onBadInput 'reject' lists the bad input at its node, and the others have results", async () => {
  const graph = await stage.chainOf(1, { incremental: true });
  const runner = defineRunner({
    templates: [graph.template],
    onBadInput: 'reject',
    async run(task) {
      await task.eachNewInput(async (input) => {
        const text = await input.text();
        if (text === 'bad') throw new TaskFailure('validation', 'is bad');
        await task.write(text.toUpperCase());
      });
    },
  });
  for (const text of ['a', 'bad', 'c']) await stage.upload(graph, 'input', text);
  await stage.start(runner);
  await stage.until(graph, 'n1', 'Succeeded');
  expect(await stage.outputs(graph, 'n1')).toEqual(['A', 'C']);
  const path = `/api/v2/node-instance/${graph.nodes.n1}/rejected-inputs`;
  const { body } = await ask(stage.api.url, 'GET', path, { token: stage.people.Developer.token });
  expect(body.rejectedInputs).toMatchObject([{ category: 'validation', reason: 'is bad', sizeBytes: 3 }]);
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
