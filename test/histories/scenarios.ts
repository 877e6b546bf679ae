/** What sessions, windows and queues go through while record.ts records them: one history for each. */
import { Readable } from 'node:stream';
import type { Client } from '@temporalio/client';
import { closeSession } from '../../store/close-session.ts';
import { ensurePlatformDataSource } from '../../store/data-sources.ts';
import type { Database } from '../../store/database.ts';
import { newOutputKey, type ObjectStores } from '../../store/objects.ts';
import { cancelRun, retryRun } from '../../store/operate-runs.ts';
import { endTask } from '../../store/outcomes.ts';
import { publishUpload } from '../../store/publish.ts';
import { queueUpload } from '../../store/queued-uploads.ts';
import { lockSession } from '../../store/session-lock.ts';
import { joinOrOpen } from '../../store/shared-sessions.ts';
import type { WorkflowClient } from '../../workflows/client.ts';
import { queuedIngestId, sessionWorkflowId, windowWorkflowId } from '../../workflows/contract.ts';
import { eventually } from '../support/eventually.ts';
import { chain, claim, finish, type Graph, makeGraph, outsideTemplate, upload } from '../support/graph.ts';

const runner = { holder: 'token', instanceId: 'runner' };
export const taskQueue = 'recorded';
export interface Stage {
  readonly database: Database;
  readonly objects: ObjectStores;
  readonly workflows: WorkflowClient;
  readonly operator: Client;
}

/** Makes one session go through something, upon which its workflow ends: that of its graph, unless it names another. */
export type Scenario = (
  stage: Stage,
) => Promise<{ readonly sessionId: string; readonly workflowId?: string | undefined }>;

async function outside(stage: Stage, length: number): Promise<Graph & { readonly template: string }> {
  const template = `outside-${Math.random()}`;
  await outsideTemplate(stage.database, template);
  return { ...(await makeGraph(stage.database, chain(length, template))), template };
}

async function begin(stage: Stage, graph: Graph): Promise<void> {
  stage.workflows.afterCommit((await upload(stage.database, graph, 'input')).effects);
}

function take(stage: Stage, template: string) {
  return eventually('a task', () => claim(stage.database, runner, template));
}

async function finishNext(stage: Stage, graph: Graph & { readonly template: string }): Promise<void> {
  const ended = await finish(stage.database, runner, graph, await take(stage, graph.template));
  if (ended.kind === 'ended') stage.workflows.afterCommit(ended.effects);
}

const handleOf = (stage: Stage, graph: Graph) =>
  stage.operator.workflow.getHandle(sessionWorkflowId(graph.sessionId));

function untilAwaited(stage: Stage, graph: Graph) {
  return eventually('the wait', async () => {
    const { raw } = await handleOf(stage, graph).describe();
    return (raw.pendingActivities?.length ?? 0) > 0;
  });
}

const day = { seconds: 86_400, ms: 86_400_000 };

export const scenarios: Readonly<Record<string, Scenario>> = {
  /** The first node lasts, so that its end is awaited; the others end at once. */
  async plain(stage) {
    const graph = await outside(stage, 3);
    await begin(stage, graph);
    const task = await take(stage, graph.template);
    await untilAwaited(stage, graph);
    const ended = await finish(stage.database, runner, graph, task);
    if (ended.kind === 'ended') stage.workflows.afterCommit(ended.effects);
    await finishNext(stage, graph);
    await finishNext(stage, graph);
    return graph;
  },

  /** A failure, the timer of its retry, and the second attempt. */
  async retry(stage) {
    const graph = await outside(stage, 1);
    await begin(stage, graph);
    const task = await take(stage, graph.template);
    const failure = { kind: 'fail', category: 'error', reason: 'No luck.' } as const;
    const ended = await endTask(stage.database, runner, task.taskId, failure, 'digest', 0);
    if (ended.kind === 'ended') stage.workflows.afterCommit(ended.effects);
    await finishNext(stage, graph);
    return graph;
  },

  /** Two nodes wait, each with its timer; an operator cancels one run, and has it tried again after the other has ended. */
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
      const { taskId, runId } = await take(stage, template);
      failed.push(runId);
      const ended = await endTask(stage.database, runner, taskId, failure, 'digest', 0);
      if (ended.kind === 'ended') stage.workflows.afterCommit(ended.effects);
    }
    await eventually('two timers', async () => {
      const { events } = await handleOf(stage, graph).fetchHistory();
      const ofRetries = events?.filter((event) => {
        const { data } = event.userMetadata?.summary ?? {};
        return data && Buffer.from(data).includes('attempt 2 of 3 due');
      });
      return ofRetries?.length === 2;
    });
    const cancelled = await cancelRun(stage.database, failed[1]!);
    if ('effects' in cancelled) stage.workflows.afterCommit(cancelled.effects);
    const again = await take(stage, template);
    const retried = await retryRun(stage.database, failed[1]!);
    if (retried.outcome === 'queued') stage.workflows.afterCommit(retried.effects);
    const ended = await finish(stage.database, runner, graph, again);
    if (ended.kind === 'ended') stage.workflows.afterCommit(ended.effects);
    await finishNext(stage, graph);
    return graph;
  },

  /** An end of which the wait is not told: the next look drops the wait. */
  async 'dropped-wait'(stage) {
    const graph = await outside(stage, 2);
    await begin(stage, graph);
    const task = await take(stage, graph.template);
    await untilAwaited(stage, graph);
    const ended = await finish(stage.database, runner, graph, task);
    if (ended.kind === 'ended') await stage.workflows.lookAgain(ended.effects.session);
    await finishNext(stage, graph);
    return graph;
  },

  /** So many looks that the workflow goes on in a fresh history; this is the history before. */
  async 'continued-as-new'(stage) {
    const graph = await outside(stage, 1);
    const { effects } = await upload(stage.database, graph, 'input');
    await stage.workflows.lookAgain(effects.session);
    const task = await take(stage, graph.template);
    await untilAwaited(stage, graph);
    const first = (await handleOf(stage, graph).describe()).runId;
    while ((await handleOf(stage, graph).describe()).runId === first)
      await Promise.all(Array.from({ length: 20 }, () => stage.workflows.lookAgain(effects.session)));
    const ended = await finish(stage.database, runner, graph, task);
    if (ended.kind === 'ended') stage.workflows.afterCommit(ended.effects);
    return graph;
  },

  /** Built-in nodes, from an upload to a dashboard. */
  async builtin(stage) {
    const { database, objects, workflows } = stage;
    const graph = await makeGraph(database, [
      { name: 'input', parents: [] },
      { name: 'recording', parents: ['input'], template: 'system-tabular-to-dataservice' },
      { name: 'dashboard', parents: ['recording'], template: 'system-next-dimension' },
    ]);
    const dataSource = await ensurePlatformDataSource(database, objects.platformAccess);
    const objectKey = newOutputKey();
    await database.query('insert into pending_object (object_key, data_source_id) values ($1, $2)', [
      objectKey,
      dataSource.id,
    ]);
    const stored = await objects
      .of(dataSource)
      .put(objectKey, Readable.from([Buffer.from('time,speed\n0,1\n1,2\n')]), {
        contentType: 'text/csv',
        signal: AbortSignal.timeout(10_000),
      });
    const published = await publishUpload(database, {
      ...stored,
      nodeInstanceId: graph.nodes.input!,
      dataSourceId: dataSource.id,
      objectKey,
      outputIdentifier: 'drive.csv',
      contentType: 'text/csv',
      contentEncoding: null,
      metadata: null,
    });
    if ('effects' in published) workflows.afterCommit(published.effects);
    return graph;
  },

  /** Cancelled by an operator while it waits; what comes after is another execution. */
  async cancelled(stage) {
    const graph = await outside(stage, 1);
    await begin(stage, graph);
    const task = await take(stage, graph.template);
    await untilAwaited(stage, graph);
    await handleOf(stage, graph).cancel();
    await eventually(
      'the cancel',
      async () => (await handleOf(stage, graph).describe()).status.name === 'CANCELLED',
    );
    const ended = await finish(stage.database, runner, graph, task);
    if (ended.kind === 'ended') stage.workflows.afterCommit(ended.effects);
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
    if (opened.outcome !== 'created' || !opened.tellWindow) throw new Error(opened.outcome);
    const { sessionId, tellWindow } = opened;
    const looked = () =>
      eventually('a look', async () => {
        const sql = 'select 1 from session where id = $1 and window_wanted_at is null';
        return (await database.query(sql, [sessionId])).length > 0;
      });
    await workflows.lookAtWindowNow(tellWindow);
    await looked();
    await join('second');
    await workflows.lookAtWindowNow(tellWindow);
    await looked();
    await closeSession(database, {
      sessionId,
      person: { identifier: 'anon:first', key: 'anon:first' },
      mayCloseAny: false,
      reason: null,
      closeAt: new Date(Date.now() + 1_500),
    });
    await workflows.lookAtWindowNow(tellWindow);
    return { sessionId, workflowId: windowWorkflowId(sessionId) };
  },

  /** A project's queue: told of an upload once more while it is being published, so that it drains again. */
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
    await database.transaction(async (tx) => {
      await lockSession(tx, 'session', graph.sessionId);
      await workflows.lookAtQueueNow(graph.projectId);
      await eventually('it publishes', async () => {
        const { raw } = await stage.operator.workflow.getHandle(workflowId).describe();
        return raw.pendingActivities?.some(({ lastStartedTime }) => lastStartedTime);
      });
      await workflows.lookAtQueueNow(graph.projectId);
    });
    return { sessionId: graph.sessionId, workflowId };
  },
};
