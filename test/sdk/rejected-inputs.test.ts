/** Rejected inputs and the next task of the kit's runners on the platform. */
import { expect, test } from 'vitest';
import { runnerRoutes } from '../../api/runner/routes.ts';
import { defineRunner, TaskFailure } from '../../sdk/index.ts';
import { ask } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { faultProxy } from './support/fault-proxy.ts';
import { kitStage } from './support/kit-stage.ts';

const stage = await kitStage();
/** The platform learns them in the same version as the kit. */
const isThere = runnerRoutes.some(({ path }) => path.includes('/rejections/'));

test.skipIf(!isThere)(
  "onBadInput 'reject' lists the bad input at its node, and the others have results",
  async () => {
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
  },
);

test.skipIf(!isThere)(
  'the next task comes with the end of one, also when the first answer is lost',
  async () => {
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
  },
);
