/** What the workflow engine is told of holders. Until the last test no worker runs, so nothing is awaited and every signal stays visible. */
import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { registry } from '../../../../telemetry/registry.ts';
import { sessionWorkflowId, workflowTypes } from '../../../../workflows/contract.ts';
import { startTestApi } from '../../../support/api.ts';
import { eventually } from '../../../support/eventually.ts';
import { type Graph, upload } from '../../../support/graph.ts';
import { runnerStage } from '../../../support/runner.ts';
import { testWorkflows } from '../../../support/workflows.ts';
import { newRunnerType, newToken } from '../../runner-tokens/support.ts';

const stage = await runnerStage();
const second = await startTestApi(stage.platform.environment);
afterAll(() => second.stop());
const temporal = await testWorkflows(stage.platform.environment);
const holdersOf = (api: typeof second) => api.composed.services.runners.holders;
const noOutput = { outcome: 'no-output' };

async function signalsOf(graph: Graph): Promise<number> {
  const handle = temporal.operator.workflow.getHandle(sessionWorkflowId(graph.sessionId));
  const { events } = await handle.fetchHistory();
  return (events ?? []).filter((event) => event.workflowExecutionSignaledEventAttributes).length;
}

/** A task that the first API has handed out, to an instance that also reaches the second. */
async function handedOut() {
  const runnerType = await newRunnerType(stage);
  const graph = await stage.chainOf(1, { runnerType });
  await upload(stage.database, graph, 'input');
  // The call that follows the commit of an upload may be lost, and no healer runs here that would make up for it.
  await temporal.operator.workflow.start(workflowTypes.session, {
    workflowId: sessionWorkflowId(graph.sessionId),
    taskQueue: stage.platform.environment.TEMPORAL_TASK_QUEUE!,
    args: [{ sessionId: graph.sessionId }],
  });
  const { id: tokenId, token } = await newToken(stage, [runnerType]);
  const own = { token, instanceId: randomUUID() };
  const [here, elsewhere] = [stage.runner(own), stage.runner({ ...own, url: second.url })];
  const { taskId } = await here.acquire(graph.template);
  return { graph, tokenId, taskId, here, elsewhere };
}

/** Calls to Temporal after commits, by the processes of this file. */
async function callsToTemporal(): Promise<number> {
  const counter = await registry.getSingleMetric('sdp_temporal_calls_total')?.get();
  return counter?.values.reduce((sum, { value }) => sum + value, 0) ?? 0;
}

test('a task that ends at another process, or without a call, is forgotten, and its workflow gets no signal for it', async () => {
  const [completed, replaced, withoutCall] = [await handedOut(), await handedOut(), await handedOut()];
  expect((await completed.elsewhere.end(completed.taskId, 'complete', noOutput)).status).toBe(200);
  const next = await replaced.elsewhere.acquire(replaced.graph.template);
  expect((await replaced.elsewhere.end(next.taskId, 'complete', noOutput)).status).toBe(200);
  await stage.database.query('update runner_token set revoked_at = clock_timestamp() where id = $1', [
    withoutCall.tokenId,
  ]);
  await eventually('no holder is left to be shown', () => holdersOf(stage.api).count === 0);
  for (const { graph } of [completed, replaced, withoutCall]) expect(await signalsOf(graph)).toBe(0);
});

test('a task whose end is answered by a repeat is forgotten at once', async () => {
  const { taskId, here, elsewhere } = await handedOut();
  for (const runner of [elsewhere, here])
    expect((await runner.end(taskId, 'complete', noOutput)).status).toBe(200);
  expect(holdersOf(stage.api).count).toBe(0);
});

test('a workflow that does not await a task that is held for long is notified of it once', async () => {
  const { graph, taskId, elsewhere } = await handedOut();
  const before = await callsToTemporal();
  await eventually('five tries to show the holder', async () => (await callsToTemporal()) >= before + 5);
  expect(await signalsOf(graph)).toBe(1);
  expect((await elsewhere.end(taskId, 'complete', noOutput)).status).toBe(200);
});

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
