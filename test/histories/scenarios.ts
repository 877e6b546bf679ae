import { newOutputKey } from '../../store/objects/object-store.ts';
import { builtinHolder } from '../../store/runners/holder.ts';
import { holdSession } from '../../store/runs/change-session.ts';
import { claimRun } from '../../store/runs/claims.ts';
import { endTask } from '../../store/runs/end-task.ts';
import { cancelRun, retryRun } from '../../store/runs/operate-runs.ts';
import { closeSession } from '../../store/sessions/close-session.ts';
import { joinOrOpen } from '../../store/sessions/shared-sessions.ts';
import { queueUpload } from '../../store/uploads/queued-uploads.ts';
import { queuedIngestId, windowWorkflowId } from '../../workflows/contract.ts';
import { queueTarget, sessionTarget, windowTarget } from '../../workflows/targets.ts';
import { eventually } from '../support/eventually.ts';
import { changesBy, finish, makeGraph, operatorId, outsideTemplate, upload } from '../support/graph.ts';
import { dueScenarios } from './due-scenarios.ts';
import {
  acquire,
  begin,
  builtinGraph,
  finishNext,
  handleOf,
  outside,
  publishTable,
  runner,
  type Scenario,
  taskQueue,
  untilAwaited,
} from './stage.ts';

const day = { seconds: 86_400, ms: 86_400_000 };

export const scenarios: Readonly<Record<string, Scenario>> = {
  /** The first node lasts, so that its end is awaited; the others end at once. */
  async plain(stage) {
    const graph = await outside(stage, 3);
    await begin(stage, graph);
    const task = await acquire(stage, graph.template);
    await untilAwaited(stage, graph);
    await finish(stage.database, runner, graph, task);
    await finishNext(stage, graph);
    await finishNext(stage, graph);
    return graph;
  },

  /** A failure, the timer of its retry, and the second attempt. */
  async retry(stage) {
    const graph = await outside(stage, 1);
    await begin(stage, graph);
    const task = await acquire(stage, graph.template);
    const failure = { kind: 'fail', category: 'error', reason: 'No luck.' } as const;
    await endTask(stage.database, { ...runner, taskId: task.taskId }, failure, {
      digest: 'digest',
      jitter: 0,
    });
    await finishNext(stage, graph);
    return graph;
  },

  /** Two nodes wait, each with its timer; an operator cancels one run, and retries it after the other has ended. */
  async timers(stage) {
    const template = `outside-${Math.random()}`;
    await outsideTemplate(stage.database, template);
    const nodes = ['a', 'b'].map((name) => ({ name, parents: ['input'], template }));
    const graph = {
      ...(await makeGraph(stage.database, [{ name: 'input', parents: [] }, ...nodes])),
      template,
    };
    await begin(stage, graph);
    const failure = { kind: 'fail', category: 'error', reason: 'No luck.' } as const;
    const failed: string[] = [];
    for (const _ of nodes) {
      const { taskId, runId } = await acquire(stage, template);
      failed.push(runId);
      await endTask(stage.database, { ...runner, taskId }, failure, { digest: 'digest', jitter: 0 });
    }
    await eventually('two timers', async () => {
      const { events } = await handleOf(stage, graph).fetchHistory();
      const ofRetries = events?.filter((event) => {
        const { data } = event.userMetadata?.summary ?? {};
        return data && Buffer.from(data).includes('attempt 2 of 3 due');
      });
      return ofRetries?.length === 2;
    });
    await cancelRun(stage.database, failed[1]!, operatorId);
    const again = await acquire(stage, template);
    await retryRun(stage.database, failed[1]!, operatorId);
    await finish(stage.database, runner, graph, again);
    await finishNext(stage, graph);
    return graph;
  },

  /** A busy session is to be reconciled in five seconds; a notification comes before, and then it is in one. */
  async 'reconciles-sooner'(stage) {
    const graph = await outside(stage, 4);
    const [change] = await changesBy(stage.database, () => upload(stage.database, graph, 'input'));
    await stage.workflows.wake(sessionTarget(change!.session));
    await finishNext(stage, graph);
    await finishNext(stage, graph);
    const eventsOf = async () => (await handleOf(stage, graph).fetchHistory()).events ?? [];
    await eventually('the timer of a busy session', async () =>
      (await eventsOf()).some(
        (event) => Number(event.timerStartedEventAttributes?.startToFireTimeout?.seconds) === 5,
      ),
    );
    const task = await acquire(stage, graph.template);
    await stage.workflows.wake(sessionTarget(change!.session));
    await eventually('another one in its place', async () =>
      (await eventsOf()).some((event) => event.timerCanceledEventAttributes),
    );
    await finish(stage.database, runner, graph, task);
    await finishNext(stage, graph);
    return graph;
  },

  /** An end that does not notify the wait: the next reconciliation drops the wait. */
  async 'dropped-wait'(stage) {
    const graph = await outside(stage, 2);
    await begin(stage, graph);
    const task = await acquire(stage, graph.template);
    await untilAwaited(stage, graph);
    const [change] = await changesBy(stage.database, () => finish(stage.database, runner, graph, task));
    await stage.workflows.wake(sessionTarget(change!.session));
    await finishNext(stage, graph);
    return graph;
  },

  /** So many reconciliations that the workflow continues in a new history; this is the history before. */
  async 'continued-as-new'(stage) {
    const graph = await outside(stage, 1);
    const [change] = await changesBy(stage.database, () => upload(stage.database, graph, 'input'));
    const { session } = change!;
    await stage.workflows.wake(sessionTarget(session));
    const task = await acquire(stage, graph.template);
    await untilAwaited(stage, graph);
    const first = (await handleOf(stage, graph).describe()).runId;
    while ((await handleOf(stage, graph).describe()).runId === first)
      await Promise.all(Array.from({ length: 20 }, () => stage.workflows.wake(sessionTarget(session))));
    await finish(stage.database, runner, graph, task);
    return graph;
  },

  /** Built-in nodes, from an upload to a dashboard. */
  async builtin(stage) {
    const graph = await builtinGraph(stage);
    await publishTable(stage, graph);
    return graph;
  },

  /** A built-in run lasts so many reconciliations that the workflow continues as new; the history before that. */
  async 'continued-while-busy'(stage) {
    const graph = await builtinGraph(stage);
    const [change] = await changesBy(stage.database, () => publishTable(stage, graph));
    const { session } = change!;
    const [run] = await stage.database.query<{ id: string }>(
      `select id from node_run where session_id = $1 and state = 'queued'`,
      [graph.sessionId],
    );
    const holder = { holder: builtinHolder, instanceId: 'recorded' };
    const claimed = { runId: run!.id, attempt: 1, leaseSeconds: 600 };
    const task = (await claimRun(stage.database, holder, claimed))!;
    const read = () => stage.workflows.wake(sessionTarget(session));
    await read();
    await untilAwaited(stage, graph);
    const latest = async () => await handleOf(stage, graph).describe();
    const first = (await latest()).runId;
    while ((await latest()).historyLength < 1_800) await Promise.all(Array.from({ length: 100 }, read));
    await eventually('a fresh history', async () => {
      await read();
      return (await latest()).runId !== first;
    });
    const release = { kind: 'release', reason: 'recorded' } as const;
    await endTask(stage.database, { ...holder, taskId: task.taskId }, release, {
      digest: 'digest',
      jitter: 0,
    });
    return graph;
  },

  /** Cancelled by an operator while it waits; what comes after is another execution. */
  async cancelled(stage) {
    const graph = await outside(stage, 1);
    await begin(stage, graph);
    const task = await acquire(stage, graph.template);
    await untilAwaited(stage, graph);
    await handleOf(stage, graph).cancel();
    await eventually(
      'the cancel',
      async () => (await handleOf(stage, graph).describe()).status.name === 'CANCELLED',
    );
    await finish(stage.database, runner, graph, task);
    return graph;
  },

  /** A shared session of two; the close is set ahead, and falls due. */
  async window(stage) {
    const { database, workflows } = stage;
    const { projectId, sessionId: other } = await outside(stage, 1);
    const [row] = await database.query<{ id: number }>(
      'select session_template_id as id from session where id = $1',
      [other],
    );
    const join = (name: string) =>
      joinOrOpen(database, {
        key: {
          projectId,
          sessionTemplateId: row!.id,
          name: 'Exercise',
          simulationName: 'sim',
          machineGroup: 1,
          timeWindowSeconds: day.seconds,
        },
        startAt: new Date(Math.floor(Date.now() / day.ms) * day.ms),
        participant: { identifier: `anon:${name}`, key: `anon:${name}` },
        userId: '018f0000-0000-7000-8000-000000000001',
      });
    const opened = await join('first');
    if (opened.outcome !== 'created' || !opened.notifyWindow) throw new Error(opened.outcome);
    const { sessionId, notifyWindow } = opened;
    const looked = () =>
      eventually('a look', async () => {
        const sql = 'select 1 from session where id = $1 and window_wanted_at is null';
        return (await database.query(sql, [sessionId])).length > 0;
      });
    await workflows.wake(windowTarget(notifyWindow));
    await looked();
    await join('second');
    await workflows.wake(windowTarget(notifyWindow));
    await looked();
    await closeSession(database, {
      sessionId,
      person: { identifier: 'anon:first', key: 'anon:first' },
      mayCloseAny: false,
      reason: null,
      closeAt: new Date(Date.now() + 1_500),
    });
    await workflows.wake(windowTarget(notifyWindow));
    return { sessionId, workflowId: windowWorkflowId(sessionId) };
  },

  /** A project's queue, notified again of an upload while it is being published, so that it drains again. */
  async ingest(stage) {
    const { database, workflows } = stage;
    const graph = await outside(stage, 1);
    const objectKey = newOutputKey();
    await database.query('insert into pending_object (object_key, data_source_id) values ($1, $2)', [
      objectKey,
      graph.dataSourceId,
    ]);
    await queueUpload(database, {
      nodeInstanceId: graph.nodes.input!,
      dataSourceId: graph.dataSourceId,
      objectKey,
      outputIdentifier: 'drive.csv',
      contentType: 'text/csv',
      contentEncoding: null,
      sizeBytes: 1,
      sha256: null,
      etag: 'etag',
      metadata: null,
    });
    const workflowId = queuedIngestId(graph.projectId, taskQueue);
    await holdSession(database, { sessionId: graph.sessionId }, async () => {
      await workflows.wake(queueTarget(graph.projectId));
      await eventually('it publishes', async () => {
        const { raw } = await stage.operator.workflow.getHandle(workflowId).describe();
        return raw.pendingActivities?.some(({ lastStartedTime }) => lastStartedTime);
      });
      await workflows.wake(queueTarget(graph.projectId));
    });
    return { sessionId: graph.sessionId, workflowId };
  },

  ...dueScenarios,
};
