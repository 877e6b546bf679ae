/** The end of a worker that cannot start. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { testProcesses } from '../support/processes.ts';
import { testEnvironment } from '../support/stack.ts';

const platform = await testEnvironment();
const processes = testProcesses(platform.environment);

test('a worker that cannot start says why and ends, whatever it has opened by then', async () => {
  const folder = join(import.meta.filename, 'no-folder');
  const worker = processes.startScript('worker/main.ts', { WORKFLOW_CACHE_DIR: folder });
  await eventually('it says why', async () => worker.log().includes('no-folder'));
  const saidAtMs = performance.now();
  expect(await worker.ended).toBe(1);
  // Its connections are closed after a minute without use.
  expect(performance.now() - saidAtMs).toBeLessThan(30_000);
});
