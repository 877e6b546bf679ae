/** Rejected inputs. */
import { expect, test } from 'vitest';
import { defineRunner, type Input, TaskFailure } from '../../sdk/index.ts';
import { testTask } from '../../sdk/testing.ts';
import { contractStage } from './support/contract-stage.ts';

/** Adds up numbers; other text is invalid. */
async function numberIn(input: Input): Promise<number> {
  const value = Number(await input.text());
  if (Number.isNaN(value)) throw new TaskFailure('validation', `no number: ${input.outputIdentifier}`);
  return value;
}

test('on a platform without rejected inputs a bad input fails its task', async () => {
  const stage = await contractStage({ incremental: true });
  const node = stage.offer('1', 'x', '3');
  stage.server.faults.add({ on: ['rejection'], fault: { kind: 'answer', status: 404, code: 'not_found' } });
  await stage.start({
    onBadInput: 'reject',
    async run(task) {
      await task.eachNewInput(async (input) => void (await task.writeJson(await numberIn(input))));
    },
  });
  const { end } = await stage.ended(node);
  expect(end?.how).toBe('fail');
  expect(stage.server.journal.of('fail')[0]?.json).toMatchObject({
    category: 'validation',
    reason: 'no number: input-2',
  });
  expect(node.watermark.position).toBe(1);
});

test('task.reject counts when a task of another node completes, also without an output', async () => {
  const stage = await contractStage();
  const node = stage.offer('x');
  await stage.start({
    async run(task) {
      for await (const input of task.inputs()) await task.reject(input, 'validation', 'broken');
    },
  });
  const { end } = await stage.ended(node);
  expect(end?.reply).toMatchObject({ outcome: 'no-output' });
  expect(node.rejected).toMatchObject([
    { inputId: node.inputs[0]?.outputId, category: 'validation', reason: 'broken' },
  ]);
});

test.each([
  ['text', 'it holds bytes that are not UTF-8 text'],
  ['json', 'it is no JSON: '],
] as const)('an input that is no %s is rejected with the reason', async (read, reason) => {
  const runner = defineRunner({
    templates: ['contract'],
    onBadInput: 'reject',
    run: async (task) => void (await task.eachNewInput(async (input) => void (await input[read]()))),
  });
  const bad = read === 'text' ? Buffer.from([0xff]) : Buffer.from('{"a": ');
  const { rejected } = await testTask(runner, { inputs: [bad] });
  expect(rejected).toMatchObject([{ category: 'validation', reason: expect.stringContaining(reason) }]);
});
