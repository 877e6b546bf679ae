/** Runs the runner on tasks in memory, without a platform. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { testTask } from '@simulation-data-platform/runner/testing';
import runner from './runner.ts';

const sample = { file: join(import.meta.dirname, 'sample.csv') };

test('each recording has a result', async () => {
  const { outputs } = await testTask(runner, { inputs: [sample] });
  assert.deepEqual(
    outputs.map((output) => output.json()),
    [{ recording: 'sample.csv', top: 63.5, rows: 3 }],
  );
});

test('a recording without a number in the column is rejected', async () => {
  const wrong = ['', 'nan', 'Infinity', '1_0'].map((cell) => `time,speed\n0,${cell}\n1,5\n`);
  const inputs = ['time,height\n0,1\n', ...wrong, sample];
  const { outputs, rejected } = await testTask(runner, { inputs });
  assert.deepEqual(
    rejected.map(({ reason }) => reason),
    Array(inputs.length - 1).fill('there is no number in column speed'),
  );
  assert.equal(outputs.length, 1);
});
