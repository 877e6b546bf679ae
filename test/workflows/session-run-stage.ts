import { afterAll } from 'vitest';
import { Database } from '../../store/connection/database.ts';
import type { RunnerIdentity } from '../../store/runners/holder.ts';
import type { ClaimedTask } from '../../store/runs/claims.ts';
import { endTask, type TaskEnd } from '../../store/runs/end-task.ts';
import { sessionWorkflowId } from '../../workflows/contract.ts';
import { eventually } from '../support/eventually.ts';
import { claim, finish, type Graph, outsideTemplate, upload } from '../support/graph.ts';
import { testEnvironment } from '../support/stack.ts';
import { testWorkflows } from '../support/workflows.ts';

/** To be called at the top of a test file; all of it ends after the file's last test. */
export async function sessionRunStage() {
  const platform = await testEnvironment();
  const temporalSide = await testWorkflows(platform.environment);
  const database = await Database.open({ databaseUrl: platform.databaseUrl, poolSize: 20 });
  database.onSessionChanged = temporalSide.workflows.sessionChanged;
  await temporalSide.startWorker('workflows');
  afterAll(() => database.close());

  const runner: RunnerIdentity = { holder: 'token', instanceId: 'runner' };
  let templates = 0;

  async function ownTemplate(options: Parameters<typeof outsideTemplate>[2] = {}): Promise<string> {
    templates += 1;
    await outsideTemplate(database, `workflow-${templates}`, options);
    return `workflow-${templates}`;
  }

  async function uploadTo(graph: Graph, node = 'input') {
    await upload(database, graph, node);
  }

  async function nextTask(template: string) {
    return eventually(`a task of ${template}`, () => claim(database, runner, template));
  }

  async function finishNext(graph: Graph, template: string) {
    const task = await nextTask(template);
    await finishTask(graph, task);
    return task;
  }

  function requireEnded(ended: Awaited<ReturnType<typeof endTask>>) {
    if (ended.kind !== 'ended') throw new Error(`The end was refused: ${JSON.stringify(ended)}`);
  }

  async function finishTask(graph: Graph, task: ClaimedTask, identity = runner) {
    requireEnded(await finish(database, identity, graph, task));
  }

  async function end(taskId: string, report: TaskEnd) {
    requireEnded(await endTask(database, { ...runner, taskId }, report, { digest: 'digest', jitter: 0 }));
  }

  function workflowEnded(graph: Graph) {
    return eventually(
      'the workflow of the session ends',
      async () => (await temporalSide.statusOf(graph.sessionId)) === 'COMPLETED',
    );
  }

  /** What the UI lists as pending activities of the session's workflow. */
  async function pendingActivities(graph: Graph) {
    const description = await temporalSide.operator.workflow
      .getHandle(sessionWorkflowId(graph.sessionId))
      .describe();
    return description.raw.pendingActivities ?? [];
  }

  async function historyOf(graph: Graph) {
    return temporalSide.operator.workflow.getHandle(sessionWorkflowId(graph.sessionId)).fetchHistory();
  }

  return {
    temporalSide,
    database,
    runner,
    ownTemplate,
    uploadTo,
    nextTask,
    finishNext,
    finishTask,
    end,
    workflowEnded,
    pendingActivities,
    historyOf,
  };
}
