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

test('a recording without the column is put aside', async () => {
  const { outputs, rejected } = await testTask(runner, { inputs: ['time,height\n0,1\n', sample] });
  assert.deepEqual(
    rejected.map(({ reason }) => reason),
    ['there is no number in column speed'],
  );
  assert.equal(outputs.length, 1);
});
