/** Temporal comes back without the namespace of the platform: a worker that cannot poll must not stay as if it worked. */
import { expect, test } from 'vitest';
import { testProcesses } from '../../support/processes.ts';
import { testEnvironment } from '../../support/stack.ts';

const platform = await testEnvironment({ ownStack: true });
const { temporal } = platform.stack!;
const processes = testProcesses({ ...platform.environment, TEMPORAL_NAMESPACE: 'platform-apart' });

test('a worker whose namespace is gone ends, and one that is started then makes it and works', async () => {
  // Workers of workflows make a lost namespace again, perhaps before this one asks for it.
  const worker = await processes.startWorker('builtin');
  await temporal!.wipe();
  expect(await worker.ended).toBe(1);
  expect(worker.log()).toMatch(/The worker of the task queue \S+-builtin failed/);
  const again = await processes.startWorker('builtin');
  again.kill('SIGTERM');
  expect(await again.ended).toBe(0);
});
