/** The end of a process that cannot start. */
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
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

test.each(['api/main.ts', 'worker/main.ts'])(
  '%s ends with one sentence when the address of Temporal has another form',
  async (script) => {
    const refused = processes.startScript(script, { PORT: '0', TEMPORAL_ADDRESS: 'http://127.0.0.1:7233' });
    expect(await refused.ended).toBe(1);
    expect(refused.log()).toBe('TEMPORAL_ADDRESS: must be host:port\n');
  },
);

test('a worker that cannot write its READY_FILE names the setting', async () => {
  const file = join(import.meta.filename, 'ready');
  const worker = processes.startScript('worker/main.ts', { READY_FILE: file });
  expect(await worker.ended).toBe(1);
  expect(worker.log()).toContain(`READY_FILE: ${file} cannot be written: ENOTDIR`);
});

test.each(['api/main.ts', 'auth/main.ts', 'worker/main.ts', 'worker/runner-host/main.ts'])(
  '%s ends with one sentence when its port of metrics is taken, or its address is not of this machine',
  async (script) => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as { port: number };
    const variables = { PORT: '8080', METRICS_PORT: String(port), SDK_RUNNERS_DIR: 'ops/runners' };
    const refused = processes.startScript(script, variables);
    expect(await refused.ended).toBe(1);
    expect(refused.log()).toBe(`METRICS_PORT: ${port} is in use by another program.\n`);
    const elsewhere = processes.startScript(script, { ...variables, METRICS_HOST: '192.0.2.1' });
    expect(await elsewhere.ended).toBe(1);
    expect(elsewhere.log()).toBe('METRICS_HOST: 192.0.2.1 is no address of this machine.\n');
  },
);

test.each(['api/main.ts', 'auth/main.ts', 'worker/main.ts'])(
  '%s ends with one sentence when the database refuses its password',
  async (script) => {
    const address = new URL(platform.environment.DATABASE_URL!);
    address.password = 'not-this-one';
    const refused = processes.startScript(script, { PORT: '0', DATABASE_URL: address.href });
    expect(await refused.ended).toBe(1);
    expect(refused.log()).toBe(
      `DATABASE_URL: password authentication failed for user "${address.username}"\n`,
    );
  },
);
