import { randomUUID } from 'node:crypto';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { readSettings } from '../../settings/read.ts';
import { WorkflowClient } from '../../workflows/client.ts';
import { temporalSettings } from '../../workflows/settings.ts';
import { sessionTarget, webhookTarget } from '../../workflows/targets.ts';
import { connected, databaseStage } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { makeGraph } from '../support/graph.ts';
import { testProcesses } from '../support/processes.ts';

const { database, platform } = await databaseStage(2);
const processes = testProcesses(platform.environment);

test('all lines of a worker are JSON, also those of the native part that polls Temporal', async () => {
  const graph = await makeGraph(database, [{ name: 'in', parents: [] }]);
  const holder = await connected(platform.databaseUrl);
  onTestFinished(() => holder.end());
  await holder.query('begin');
  await holder.query('select 1 from session where id = $1 for update', [graph.sessionId]);
  const worker = await processes.startWorker('workflows');
  const { temporal } = readSettings({ temporal: temporalSettings }, platform.environment);
  const workflows = new WorkflowClient(temporal, { warn: () => undefined });
  onTestFinished(() => workflows.close());
  // It cannot be reconciled, so its workflow task takes longer than the native part expects.
  await workflows.wake(sessionTarget({ ...graph, templateName: 'x' }));
  await eventually('the native part says so', () => worker.log().includes('TMPRL1104'));
  const lines = worker.log().trim().split('\n');
  expect(lines.filter((line) => !line.startsWith('{'))).toEqual([]);
  expect(lines.map((line) => JSON.parse(line)).filter((line) => line.sdkComponent === 'core')).not.toEqual(
    [],
  );
});

test('the log states why a call of Temporal failed, which the error of the call leaves out', async () => {
  const silent = createServer();
  await new Promise<void>((resolve) => void silent.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void silent.close());
  const { temporal } = readSettings({ temporal: temporalSettings }, platform.environment);
  const { port } = silent.address() as AddressInfo;
  const warnings: object[] = [];
  const workflows = new WorkflowClient(
    { ...temporal, TEMPORAL_ADDRESS: `127.0.0.1:${port}` },
    { warn: (facts) => warnings.push(facts) },
  );
  onTestFinished(() => workflows.close());
  workflows.notify(webhookTarget(randomUUID()));
  await eventually('it is logged', () => warnings.length > 0);
  expect(warnings).toEqual([{ error: expect.stringMatching(/signalWithStart.*DEADLINE_EXCEEDED/) }]);
});
