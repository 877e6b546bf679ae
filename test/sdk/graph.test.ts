/** A runner of the kit on the platform: tasks in, outputs out. */
import { describe, expect, test } from 'vitest';
import { defineRunner, TaskFailure } from '../../sdk/index.ts';
import { eventually } from '../support/eventually.ts';
import { stateOf } from '../support/graph.ts';
import { kitStage } from './support/kit-stage.ts';

const stage = await kitStage();
const { database } = stage;
const succeeded = 3;
const failed = 2;

describe('a runner', () => {
  test('works through a chain of nodes: each reads what its parent wrote', async () => {
    const graph = await stage.chainOf(3);
    await stage.start(
      defineRunner({
        templates: [graph.template],
        async run(task) {
          for await (const input of task.inputs('latest')) {
            await task.write(`${await input.text()}+${task.nodeName}`, { contentType: 'text/plain' });
          }
        },
      }),
    );
    await stage.upload(graph, 'input', 'bytes', { 'content-type': 'text/plain' });
    await eventually(
      'the last node is done',
      async () => (await stateOf(database, graph, 'n3')) === succeeded,
    );
    expect(await stage.latest(graph, 'n3')).toBe('bytes+n1+n2+n3');
  });

  test('fails a task by the category that its code throws, and nobody tries a validation again', async () => {
    const graph = await stage.chainOf(1);
    await stage.start(
      defineRunner({
        templates: [graph.template],
        run() {
          throw new TaskFailure('validation', 'line 7: no number');
        },
      }),
    );
    await stage.upload(graph, 'input', 'bytes');
    await eventually('the node failed', async () => (await stateOf(database, graph, 'n1')) === failed);
    expect(await stage.detailsOf(graph, 'n1')).toBe('validation: line 7: no number');
  });
});
