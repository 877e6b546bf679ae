/** Logs, replays and rejected inputs of the kit's runners on the platform. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { defineRunner, TaskFailure } from '../../sdk/index.ts';
import { runCase } from '../../sdk/testing.ts';
import { ask } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { faultProxy } from './support/fault-proxy.ts';
import { kitStage } from './support/kit-stage.ts';

const stage = await kitStage();
const { token } = stage.people.Developer;

const get = async (path: string) => (await ask(stage.api.url, 'GET', path, { token })).body;

async function runOf(nodeInstanceId: number | undefined): Promise<string> {
  const [run] = await stage.database.query<{ id: string }>(
    'select id from node_run where node_instance_id = $1',
    [nodeInstanceId],
  );
  return run!.id;
}

/** Lines of the runner in the log of a run that has ended. */
async function linesOf(runId: string): Promise<readonly string[]> {
  const page = await eventually('the whole log', async () => {
    const found = await get(`/api/v2/node-runs/${runId}/logs?limit=1000`);
    return found.complete ? found : undefined;
  });
  return page.entries
    .filter(({ source }: { source: string }) => source === 'runner')
    .map(({ level, message }: { level: string; message: string }) => `${level} ${message.split('\n')[0]}`);
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
