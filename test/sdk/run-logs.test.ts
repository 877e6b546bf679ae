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

test('a process that an uncaught error ends writes the error into the log of the run that it leaves', async () => {
  const graph = await stage.chainOf(1, { maxAttempts: 1, leaseSeconds: 10 });
  const child = await stage.startProcess('test/sdk/support/runners/behaviours.ts', {
    BEHAVIOUR: 'leaves a rejection',
    TEMPLATE: graph.template,
  });
  await stage.upload(graph, 'input', 'x');
  expect(await child.ended).toBe(1);
  expect(child.log()).toContain('Error: nothing awaits this');
  expect(await linesOf(await runOf(graph.nodes.n1), 2)).toEqual([
    'info begun',
    'error The runner process ends, because no code caught this error: Error: nothing awaits this',
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
