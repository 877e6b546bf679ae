/** When the healer restarts a workflow: a failing one soon, a slow one late. */
import proto from '@temporalio/proto';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { reconcileSession } from '../../store/runs/reconcile-session.ts';
import { healOnce } from '../../worker/healer.ts';
import { sessionWorkflowId, workflowTypes } from '../../workflows/contract.ts';
import { databaseStage } from '../support/databases.ts';
import { eventually, patienceMs } from '../support/eventually.ts';
import { chain, makeGraph, outsideTemplate, upload } from '../support/graph.ts';
import { testWorkflows } from '../support/workflows.ts';

const { database, platform } = await databaseStage(4);
const { operator, workflows } = await testWorkflows(platform.environment);
const log = pino({ level: 'silent' });

/** A session with an open run whose workflow is on a task queue of the test's own: the test is its worker. */
async function sessionOf(how: 'failing' | 'slow') {
  const template = `healed-${Math.random()}`;
  await outsideTemplate(database, template);
  const graph = await makeGraph(database, chain(1, template));
  const { sessionId } = graph;
  const workflowId = sessionWorkflowId(sessionId);
  const handle = await operator.workflow.start(workflowTypes.session, {
    workflowId,
    taskQueue: template,
    args: [{ sessionId }],
    workflowTaskTimeout: '1s',
  });
  const { taskToken } = await operator.connection.withDeadline(Date.now() + patienceMs, () =>
    operator.workflowService.pollWorkflowTaskQueue({ namespace: 'default', taskQueue: { name: template } }),
  );
  if (how === 'failing')
    await operator.workflowService.respondWorkflowTaskFailed({
      namespace: 'default',
      taskToken,
      cause:
        proto.temporal.api.enums.v1.WorkflowTaskFailedCause
          .WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR,
    });
  const describe = async () => await operator.workflow.getHandle(workflowId).describe();
  await eventually(
    'the task is tried again',
    async () => ((await describe()).raw.pendingWorkflowTask?.attempt ?? 1) > 1,
  );
  const isRestarted = async () => (await describe()).runId !== handle.firstExecutionRunId;
  return { graph, sessionId, isRestarted };
}

async function heal(sessionId: string): Promise<void> {
  await database.query(`update session set healed_at = '-infinity' where id = $1`, [sessionId]);
  await healOnce(database, workflows, log);
}

const notObservedFor = (sessionId: string, minutes: number) =>
  database.query(
    `update session set desired_version = observed_version + 1, dirty_since = now() - make_interval(mins => $2)
      where id = $1`,
    [sessionId, minutes],
  );

test('a workflow that only needs long for its task is not restarted before it was late for minutes', async () => {
  const { sessionId, isRestarted } = await sessionOf('slow');
  await notObservedFor(sessionId, 2);
  await heal(sessionId);
  expect(await isRestarted()).toBe(false);
  await notObservedFor(sessionId, 10);
  await heal(sessionId);
  expect(await isRestarted()).toBe(true);
});

test('a failing workflow is restarted for a retry that is overdue, although nothing else has changed', async () => {
  const { graph, sessionId, isRestarted } = await sessionOf('failing');
  await upload(database, graph, 'input');
  await reconcileSession(database, sessionId);
  await database.query(
    `update node_run set state = 'waiting', due_at = now() - interval '1 minute' where session_id = $1`,
    [sessionId],
  );
  await heal(sessionId);
  expect(await isRestarted()).toBe(true);
});
