/** The loop of an incremental node: what it has consumed has its results, however its task ends. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { defineRunner, type Task, TaskFailure } from '../../sdk/index.ts';
import { ask } from '../support/api.ts';
import type { StageGraph } from '../support/runner.ts';
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
