/** Values of an author that JSON or the platform has no room for are refused where they are given, as in Python. */
import { expect, test } from 'vitest';
import type { JsonObject, Task } from '../../sdk/index.ts';
import { testTask } from '../../sdk/testing.ts';

const mistakes: readonly [string, (task: Task) => unknown, string][] = [
  [
    'NaN in an output',
    (task) => task.writeJson({ laps: [{ top: null }, { top: Number.NaN }] }),
    'JSON has no NaN (at $.laps[1].top); use null for it',
  ],
  ['an infinite output', (task) => task.writeJson(Infinity), 'JSON has no Infinity (at $); use null for it'],
  [
    'an infinite number in metadata',
    (task) => task.write('x', { metadata: { top: -Infinity } }),
    'JSON has no -Infinity (at $.top); use null for it',
  ],
  [
    'NaN in the state',
    (task) => task.state.set({ mean: Number.NaN }),
    'The state is no JSON: JSON has no NaN (at $.mean); use null for it',
  ],
  [
    'a state that is a list',
    (task) => task.state.set([1] as unknown as JsonObject),
    'The state is an object.',
  ],
  [
    'a state above 64 KB',
    (task) => task.state.set({ rows: 'é'.repeat(40_000) }),
    'The state holds at most 65536 bytes as JSON, not 80011.',
  ],
];

test.each(mistakes)('%s fails the task with the place', async (_, mistake, reason) => {
  const result = await testTask(
    async (task: Task) => {
      await mistake(task);
    },
    { state: { old: 1 } },
  );
  expect(result).toMatchObject({ endedBy: 'fail', state: { old: 1 } });
  expect(result.reason).toContain(reason);
});

test('null, texts with that word and values with a JSON form of their own are written as they are', async () => {
  const value = { at: new Date(0), none: null, text: 'null', same: [{}, {}] };
  const { outputs } = await testTask(async (task: Task) => {
    await task.writeJson(value);
  });
  expect(outputs[0]?.text()).toBe(JSON.stringify(value));
});
