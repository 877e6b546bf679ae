import { describe, expect, test } from 'vitest';
import type { RunnerIdentity } from '../../store/runners/holder.ts';
import type { ClaimedTask } from '../../store/runs/claims.ts';
import { cancelRun, retryRun } from '../../store/runs/operate-runs.ts';
import { sessionWorkflowId } from '../../workflows/contract.ts';
import { eventually } from '../support/eventually.ts';
import { chain, claim, finish, type Graph, makeGraph, operatorId } from '../support/graph.ts';
import { sessionRunStage } from './session-run-stage.ts';

const {
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
} = await sessionRunStage();

describe('a session has one workflow, open only while there is something to do', () => {
  test('it waits for each attempt by name and ends with the graph', async () => {
    const template = await ownTemplate();
    const graph = await makeGraph(database, chain(3, template));
    await uploadTo(graph);
    const held = await nextTask(template);
    const [pending] = await eventually('the wait for n1', async () => {
      const activities = await pendingActivities(graph);
      return activities.length > 0 && activities;
    });
    expect(pending?.activityType?.name).toBe('awaitOutcome');
    const handle = temporalSide.operator.workflow.getHandle(sessionWorkflowId(graph.sessionId));
    expect(await handle.query('__temporal_workflow_metadata')).toMatchObject({
      currentDetails: 'n1 · attempt 1 of 3',
    });
    await finishTask(graph, held);
    for (let node = 2; node <= 3; node++)
      expect((await finishNext(graph, template)).nodeName).toBe(`n${node}`);
    await workflowEnded(graph);
    const summaries = (await historyOf(graph)).events?.map((event) => decode(event.userMetadata?.summary));
    expect(summaries).toContain('n1 · attempt 1 of 3');
  });

  test('new data start it again under the same id', async () => {
    const template = await ownTemplate();
    const graph = await makeGraph(database, chain(1, template));
    for (let round = 0; round < 2; round++) {
      await uploadTo(graph);
      await finishNext(graph, template);
      await workflowEnded(graph);
    }
  });

  test('outcomes at any moment are reconciled: 20 graphs of 5 nodes all end', async () => {
    const template = await ownTemplate();
    const graphs = await Promise.all(
      Array.from({ length: 20 }, () => makeGraph(database, chain(5, template))),
    );
    const byId = new Map(graphs.map((graph) => [graph.sessionId, graph]));
    await Promise.all(graphs.map((graph) => uploadTo(graph)));
    for (let done = 0; done < 100; done++) {
      const task = await nextTask(template);
      await finish(database, runner, byId.get(task.sessionId)!, task);
    }
    for (const graph of graphs) await workflowEnded(graph);
  });
});

describe('retries are timers that operators see', () => {
  test('the timer shows node and attempt, and at its end the task is claimable', async () => {
    const template = await ownTemplate();
    const graph = await makeGraph(database, chain(1, template));
    await uploadTo(graph);
    const task = await nextTask(template);
    await end(task.taskId, { kind: 'fail', category: 'error', reason: 'No luck.' });
    // There may be others: a workflow that reconciled before the failure reconciles again by itself.
    await eventually('the timer', async () =>
      (await historyOf(graph)).events?.find(
        (event) =>
          event.timerStartedEventAttributes &&
          /^n1 · attempt 2 of 3 due \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(
            decode(event.userMetadata?.summary) ?? '',
          ),
      ),
    );
    expect(await finishNext(graph, template)).toMatchObject({ attempt: 2, runId: task.runId });
    await workflowEnded(graph);
  });
});

describe('operators act through the platform, and the workflow shows it', () => {
  /** Timers that are set and not yet over, by their summaries without the time. */
  async function timersOf(graph: Graph) {
    const { events } = await historyOf(graph);
    const over = new Set(
      events?.map((event) =>
        (event.timerFiredEventAttributes ?? event.timerCanceledEventAttributes)?.startedEventId?.toString(),
      ),
    );
    return events
      ?.filter((event) => event.timerStartedEventAttributes && !over.has(event.eventId?.toString()))
      .map((event) => decode(event.userMetadata?.summary)?.replace(/ due .*/, ''))
      .filter((summary) => summary !== 'reconciles again')
      .sort();
  }

  test('each waiting run has its own timer; that of a cancelled run ends', async () => {
    const template = await ownTemplate({ maxAttempts: 4 });
    const names = ['a', 'b'];
    const nodes = names.map((name) => ({ name, parents: ['input'], template }));
    const graph = await makeGraph(database, [{ name: 'input', parents: [] }, ...nodes]);
    await uploadTo(graph);
    const runs: string[] = [];
    for (const _ of names) {
      const task = await nextTask(template);
      runs.push(task.runId);
      await end(task.taskId, { kind: 'fail', category: 'error', reason: 'No luck.' });
    }
    const waits = ['a · attempt 2 of 4', 'b · attempt 2 of 4'];
    await eventually('two timers', async () => (await timersOf(graph))?.join() === waits.join());
    await cancelRun(database, runs[1]!, operatorId);
    await eventually('one timer', async () => (await timersOf(graph))?.join() === waits[0]);
    expect(await finishNext(graph, template)).toMatchObject({ nodeName: 'a', attempt: 2 });
    await workflowEnded(graph);
  });

  test('a retried run starts the workflow of an ended graph, which waits for its new attempt', async () => {
    const template = await ownTemplate();
    const graph = await makeGraph(database, chain(2, template));
    await uploadTo(graph);
    const task = await nextTask(template);
    await end(task.taskId, { kind: 'fail', category: 'validation', reason: 'Broken.' });
    await workflowEnded(graph);
    await retryRun(database, task.runId, operatorId);
    const again = await nextTask(template);
    await eventually('the wait', async () =>
      (await pendingActivities(graph)).some(({ activityId }) => activityId === `${task.runId}.2`),
    );
    await finishTask(graph, again);
    expect((await finishNext(graph, template)).nodeName).toBe('n2');
    await workflowEnded(graph);
  });
});

test('of a long queue the end is awaited, and a run that is held for long beside it when its holder is shown', async () => {
  const template = await ownTemplate();
  const nodes = Array.from({ length: 30 }, (_, index) => ({
    name: `n${index}`,
    parents: ['input'],
    template,
  }));
  const graph = await makeGraph(database, [{ name: 'input', parents: [] }, ...nodes]);
  await uploadTo(graph);
  await database.query(
    `update node_attempt set available_at = available_at - interval '11 seconds' where session_id = $1`,
    [graph.sessionId],
  );
  const idsOfPending = async () => (await pendingActivities(graph)).map(({ activityId }) => activityId);
  await eventually('the end of the queue is awaited', async () => (await idsOfPending()).length === 10);
  const task = await nextTask(template);
  const id = `${task.runId}.1`;
  expect(await idsOfPending()).not.toContain(id);
  await database.query(
    `update node_attempt set started_at = started_at - interval '5 seconds' where run_id = $1`,
    [task.runId],
  );
  let isShown = false;
  await eventually('its holder is shown', () => {
    const done = (result: 'shown' | 'notified') => {
      isShown ||= result === 'shown';
    };
    temporalSide.workflows.showHolder(task, { instance: 'runner' }, { notifies: true, done });
    return isShown;
  });
  expect(await idsOfPending()).toContain(id);
  await finishTask(graph, task);
  for (let done = 1; done < nodes.length; done++) await finishNext(graph, template);
  await workflowEnded(graph);
});

test('a long session continues as new and loses nothing', async () => {
  const template = await ownTemplate();
  const width = 40;
  const nodes = Array.from({ length: width }, (_, index) => ({
    name: `n${index}`,
    parents: ['input'],
    template,
  }));
  const graph = await makeGraph(database, [{ name: 'input', parents: [] }, ...nodes]);
  const { workflow } = temporalSide.operator;
  const id = sessionWorkflowId(graph.sessionId);
  const describe = (runId?: string) => workflow.getHandle(id, runId).describe();
  await uploadTo(graph);
  let current = await eventually('the workflow', async () => (await describe()).runId);
  const hasContinued = async () => {
    const before = current;
    current = (await describe()).runId;
    return current !== before && (await describe(before)).status.name === 'CONTINUED_AS_NEW';
  };
  /** When ends of waits are lost, the workflow drops the waits and is over; it still lists them then. */
  const hasRoundEnded = async () =>
    (await describe()).status.name !== 'RUNNING' || (await pendingActivities(graph)).length === 0;
  let rounds = 1;
  for (; !(await hasContinued()); rounds++) {
    const held: Array<readonly [RunnerIdentity, ClaimedTask]> = [];
    for (let index = 0; index < width; index++) {
      const identity = { ...runner, instanceId: `runner-${index}` };
      held.push([identity, (await claim(database, identity, template))!]);
    }
    // Runs that end before they are awaited would leave nothing in the history.
    await eventually('the waits', async () => (await pendingActivities(graph)).length >= width);
    for (const [identity, task] of held) await finishTask(graph, task, identity);
    await eventually('the round ends', hasRoundEnded);
    await uploadTo(graph);
  }
  for (let done = 0; done < width; done++) await finishNext(graph, template);
  await workflowEnded(graph);
  const [counts] = await database.query<{ runs: number; open: number }>(
    `select count(*) as runs, count(*) filter (where state <> 'done') as open from node_run where session_id = $1`,
    [graph.sessionId],
  );
  expect(counts).toEqual({ runs: rounds * width, open: 0 });
});

function decode(payload: { data?: Uint8Array | null } | null | undefined): string | undefined {
  return payload?.data ? JSON.parse(Buffer.from(payload.data).toString()) : undefined;
}
