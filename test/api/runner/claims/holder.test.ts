import { expect, test } from 'vitest';
import { sessionWorkflowId } from '../../../../workflows/contract.ts';
import { eventually } from '../../../support/eventually.ts';
import { runnerStage } from '../../../support/runner.ts';
import { testWorkflows } from '../../../support/workflows.ts';

const stage = await runnerStage();
const temporal = await testWorkflows(stage.platform.environment);

test('operators see in the workflow engine which runner holds a long task, from its claim on', async () => {
  await temporal.startWorker('workflows');
  const { template, ...graph } = await stage.chainOf(1);
  await stage.upload(graph, 'input', 't,v\n1,2\n');
  const runner = stage.runner();
  const task = await runner.acquire(template, 10);
  const handle = temporal.operator.workflow.getHandle(sessionWorkflowId(graph.sessionId));
  const shown = async () => {
    const [pending] = (await handle.describe()).raw.pendingActivities ?? [];
    const data = pending?.heartbeatDetails?.payloads?.[0]?.data;
    return data && (JSON.parse(Buffer.from(data).toString()) as unknown);
  };
  const holder = await eventually('the holder is shown', shown);
  expect(holder).toEqual({ node: task.nodeName, instance: runner.instanceId, kind: 'account' });
  expect((await runner.end(task.taskId, 'complete', { outcome: 'no-output' })).status).toBe(200);
});
