/** Results and errors of a runner's code, and their effects on the platform. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { defineRunner, type RunResult, type Task, TaskFailure } from '../../sdk/index.ts';
import { ask } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { kitStage } from './support/kit-stage.ts';

const stage = await kitStage();

/** A graph of one node below its input, and a runner for it. */
async function oneNode(run: (task: Task) => Promise<RunResult> | RunResult, concurrency = 1) {
  const graph = await stage.chainOf(1, { leaseSeconds: 10, maxAttempts: 1 });
  await stage.start(defineRunner({ templates: [graph.template], run }), { concurrency });
  return graph;
}

describe('a runner', () => {
  test('works through a chain of nodes: each reads what its parent wrote', async () => {
    const graph = await stage.chainOf(3);
    await stage.start(
      defineRunner({
        templates: [graph.template],
        async run(task) {
          for await (const input of task.inputs('latest')) {
            await task.write(`${await input.text()}+${task.nodeName}`);
          }
        },
      }),
    );
    await stage.upload(graph, 'input', 'bytes');
    await stage.until(graph, 'n3', 'Succeeded');
    expect(await stage.latest(graph, 'n3')).toBe('bytes+n1+n2+n3');
  });

  test('knows an input that its parent has made again by the same source key', async () => {
    const graph = await stage.chainOf(2);
    const token = await stage.tokenOfDeveloper();
    const call = async (method: string, path: string) =>
      (await ask(stage.api.url, method, `/api/v2/node-instance/${path}`, { token })).body;
    const seen: string[] = [];
    const run = async (task: Task) => {
      for await (const input of task.inputs('latest')) {
        if (task.nodeName === 'n2') seen.push(input.sourceKey);
        const identifier = `${task.nodeName}-${task.runId}`;
        await task.write('', { identifier, sourceKey: input.sourceKey, metadata: { lap: 3 } });
      }
    };
    await stage.start(defineRunner({ templates: [graph.template], run }));
    await stage.upload(graph, 'input', 'bytes');
    for (const [again, times] of [
      ['input', 1],
      ['n1', 2],
      [undefined, 3],
    ] as const) {
      await eventually(`the last node has run ${times} times`, () => seen.length === times);
      await stage.until(graph, 'n2', 'Succeeded');
      if (again !== undefined) await call('POST', `${graph.nodes[again]}/reprocess`);
    }
    const [key] = seen;
    expect(seen).toEqual([key, key, key]);
    const outputs: { metadata: object }[] = await call('GET', `${graph.nodes.n2}/outputs`);
    expect(outputs.map(({ metadata }) => metadata)).toEqual(Array(3).fill({ lap: 3, sourceKey: key }));
  });

  test('fails a task by the category that its code throws', async () => {
    const graph = await oneNode(() => {
      throw new TaskFailure('validation', 'line 7: no number');
    });
    await stage.upload(graph, 'input', 'bytes');
    await stage.until(graph, 'n1', 'Failed');
    expect((await stage.node(graph, 'n1')).statusDetails).toBe('validation: line 7: no number');
  });

  test('fails a task whose reason the platform could not store as it is', async () => {
    const graph = await oneNode(() => {
      throw new Error(`a\u0000b\ud800${'x'.repeat(10_000)}`);
    });
    await stage.upload(graph, 'input', 'bytes');
    await stage.until(graph, 'n1', 'Failed');
    expect((await stage.node(graph, 'n1')).statusDetails).toMatch(/^error: ab.x{3000,4000}…$/u);
  });

  test('finishes without an output when nothing was written and nothing else is said', async () => {
    const graph = await oneNode(() => undefined);
    await stage.upload(graph, 'input', 'bytes');
    await stage.until(graph, 'n1', 'Succeeded');
    expect((await stage.node(graph, 'n1')).statusDetails).toBe('Finished without an output.');
  });

  test('fails, and says why, when it claims to have completed without an output', async () => {
    const graph = await oneNode(() => 'completed');
    await stage.upload(graph, 'input', 'bytes');
    await stage.until(graph, 'n1', 'Failed');
    expect((await stage.node(graph, 'n1')).statusDetails).toMatch(/The run has written no output/);
  });

  test('completes only when its outputs are written, also those that its code did not wait for', async () => {
    const graph = await oneNode((task) => {
      async function* slowly() {
        yield 'first, ';
        await sleep(300);
        yield 'last';
      }
      void task.write(slowly());
    });
    await stage.upload(graph, 'input', 'bytes');
    await stage.until(graph, 'n1', 'Succeeded');
    expect(await stage.latest(graph, 'n1')).toBe('first, last');
  });

  test('suspends, with a sentence for operators', async () => {
    const graph = await oneNode(() => ({ outcome: 'suspended', statusDetails: 'needs a calibration file' }));
    await stage.upload(graph, 'input', 'bytes');
    await stage.until(graph, 'n1', 'Suspended');
    expect((await stage.node(graph, 'n1')).statusDetails).toBe('needs a calibration file');
  });

  test('shows operators what it is doing', async () => {
    let goOn = () => {};
    const graph = await oneNode(async (task) => {
      task.progress({ phase: 'reading', message: 'part one', done: 1, total: 4 });
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
    });
    await stage.upload(graph, 'input', 'bytes');
    await eventually('it is shown', async () =>
      /reading.*part one/.test((await stage.node(graph, 'n1')).statusDetails),
    );
    goOn();
    await stage.until(graph, 'n1', 'Succeeded');
  });

  test('works on as many tasks at once as its settings say', async () => {
    const together: (() => void)[] = [];
    const run = async () => {
      await new Promise<void>((resolve) => {
        together.push(resolve);
        if (together.length === 3) for (const goOn of together) goOn();
      });
    };
    const graph = await stage.chainOf(1);
    const more = await Promise.all([1, 2].map(() => stage.chainOf(1)));
    const templates = [graph, ...more].map(({ template }) => template);
    await stage.start(defineRunner({ templates, run }), { concurrency: 3 });
    for (const one of [graph, ...more]) await stage.upload(one, 'input', 'bytes');
    for (const one of [graph, ...more]) await stage.until(one, 'n1', 'Succeeded');
    const instances = new Set<string>();
    for (const one of [graph, ...more]) instances.add((await stage.claims(one, 'n1'))[0]!.instanceId);
    expect(instances.size).toBe(3);
  });

  test('keeps state between its runs, and gets what it wrote last', async () => {
    const seen: unknown[] = [];
    const graph = await oneNode(async (task) => {
      const state = (await task.state.get()) as { runs: number } | null;
      seen.push([state, (await task.previousOutput())?.metadata ?? null]);
      const runs = (state?.runs ?? 0) + 1;
      task.state.set({ runs });
      await task.writeJson({ runs }, { metadata: { run: runs, name: 'größe €\u007f' } });
    });
    for (const runs of [1, 2]) {
      await stage.upload(graph, 'input', `bytes ${runs}`);
      await eventually(
        'the run is done',
        async () => (await stage.latest(graph, 'n1')) === `{"runs":${runs}}`,
      );
    }
    expect(seen).toEqual([
      [null, null],
      [{ runs: 1 }, { run: 1, name: 'größe €\u007f' }],
    ]);
  });
});
