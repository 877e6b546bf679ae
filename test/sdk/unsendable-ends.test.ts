/** Ends of a task that cannot be sent as the code wants them fail the task, and the runner goes on. */
import { expect, test } from 'vitest';
import { defineRunner, type JsonObject, type RunResult, startRunner, type Task } from '../../sdk/index.ts';
import { testTask } from '../../sdk/testing.ts';
import { contractStage } from './support/contract-stage.ts';

const ends: readonly [string, (task: Task) => RunResult<JsonObject>, string][] = [
  ['a state that is no JSON', () => ({ outcome: 'no-output', state: { rows: 7n } as never }), 'BigInt'],
  [
    'an error without a text',
    () => {
      throw Object.create(null);
    },
    'no text',
  ],
  [
    'an object that is no error',
    () => {
      throw { code: 5 };
    },
    '{ code: 5 }',
  ],
  [
    'an error that cannot be read',
    () => {
      throw Object.defineProperty(new Error('x'), 'stack', {
        get: () => {
          throw new Error('not now');
        },
      });
    },
    'cannot be read',
  ],
  [
    'a proxy that was revoked',
    () => {
      const { proxy, revoke } = Proxy.revocable({}, {});
      revoke();
      throw proxy;
    },
    'cannot be read',
  ],
  [
    'an error whose message is no text',
    () => {
      throw Object.assign(new Error('x', { cause: new Error('c') }), { message: { code: 5 } });
    },
    '{ code: 5 }',
  ],
  [
    'a loop over new inputs that it does not wait for',
    (task) => {
      void task.eachNewInput((input) => input.text());
    },
    'write "await task.eachNewInput(...)".',
  ],
];

test.each(ends)('%s fails its task, and the next one is worked on', async (_, end) => {
  const stage = await contractStage();
  const [first, second] = [stage.offer('x'), stage.offer('y')];
  let tasks = 0;
  const runner = defineRunner({
    templates: ['contract'],
    run: (task) => {
      tasks += 1;
      return tasks === 1 ? end(task as Task) : 'no-output';
    },
  });
  const { url, token } = stage.server;
  const running = await startRunner(runner, { url, token, waitSeconds: 5, log: () => undefined });
  await stage.ended(second);
  await running.stop();
  expect(first.runs[0]?.claims[0]?.end).toMatchObject({ how: 'fail' });
  expect(second.runs[0]?.outcome).toBe('no-output');
});

test.each(ends)('%s fails a test without a platform as well', async (_, end, reason) => {
  const result = await testTask(end, { inputs: ['x'] });
  expect(result.category).toBe('error');
  expect(result.reason).toContain(reason);
});
