import proto from '@temporalio/proto';
import { describe, expect, test } from 'vitest';
import { sessionWorkflowId } from '../../workflows/contract.ts';
import { eventually } from '../support/eventually.ts';
import { chain, makeGraph, upload } from '../support/graph.ts';
import { sessionRunStage } from './session-run-stage.ts';

const {
  temporalSide,
  database,
  ownTemplate,
  uploadTo,
  nextTask,
  finishNext,
  finishTask,
  workflowEnded,
  pendingActivities,
  historyOf,
} = await sessionRunStage();

describe('a workflow heals after changes from outside', () => {
  async function heldGraph() {
    const template = await ownTemplate();
    const graph = await makeGraph(database, chain(2, template));
    await uploadTo(graph);
    const task = await nextTask(template);
    await eventually('the wait for n1', async () => (await pendingActivities(graph)).length > 0);
    return {
      template,
      graph,
      task,
      handle: temporalSide.operator.workflow.getHandle(sessionWorkflowId(graph.sessionId)),
    };
  }

  async function goesOn({ template, graph, task }: Awaited<ReturnType<typeof heldGraph>>) {
    await finishTask(graph, task);
    expect((await finishNext(graph, template)).nodeName).toBe('n2');
    await workflowEnded(graph);
  }

  test('cancelled', async () => {
    const held = await heldGraph();
    await held.handle.cancel();
    await eventually(
      'the cancel',
      async () => (await temporalSide.statusOf(held.graph.sessionId)) === 'CANCELLED',
    );
    await goesOn(held);
  });

  test('terminated', async () => {
    const held = await heldGraph();
    await held.handle.terminate('by an operator');
    await goesOn(held);
  });

  test('reset to its beginning', async () => {
    const held = await heldGraph();
    const history = await historyOf(held.graph);
    const firstTask = history.events?.find((event) => event.workflowTaskCompletedEventAttributes);
    const { runId } = await held.handle.describe();
    await temporalSide.operator.workflowService.resetWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId: held.handle.workflowId, runId },
      reason: 'by an operator',
      requestId: runId,
      workflowTaskFinishEventId: firstTask!.eventId!,
      resetReapplyType: proto.temporal.api.enums.v1.ResetReapplyType.RESET_REAPPLY_TYPE_NONE,
    });
    await goesOn(held);
  });

  test('terminated while idle: the platform restarts it within a minute', async () => {
    const held = await heldGraph();
    await held.handle.terminate('by an operator');
    await database.query(
      `update session set checked_at = clock_timestamp() - interval '50 seconds' where id = $1`,
      [held.graph.sessionId],
    );
    await eventually(
      'a new workflow',
      async () => (await temporalSide.statusOf(held.graph.sessionId)) === 'RUNNING',
    );
    await goesOn(held);
  });

  test('a wait that is completed by hand while the task is held is awaited again', async () => {
    const held = await heldGraph();
    const [pending] = await pendingActivities(held.graph);
    await temporalSide.operator.activity.complete(
      { workflowId: held.handle.workflowId, activityId: pending!.activityId! },
      { outcome: 'by hand' },
    );
    await eventually('the wait again', async () => (await pendingActivities(held.graph)).length > 0);
    await goesOn(held);
  });
});

test('a lost signal is replaced by the healer', async () => {
  const template = await ownTemplate();
  const graph = await makeGraph(database, chain(1, template));
  await upload(database, graph, 'input');
  await eventually(
    'the workflow starts',
    async () => (await temporalSide.statusOf(graph.sessionId)) === 'RUNNING',
  );
  await finishNext(graph, template);
  await workflowEnded(graph);
});
