/**
 * The only caller of Temporal's client, for the API and the worker; never used by a workflow.
 *
 * Everything here is told after a commit and may be lost: whatever is decided stands in the database, and the healer
 * looks at what nobody told. So every call has a deadline, and a Temporal that is down slows nothing.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import {
  ActivityNotFoundError,
  AsyncCompletionClient,
  Client,
  Connection,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType, TypedSearchAttributes } from '@temporalio/common';
import { attemptActivityId } from '../domain/runs/session-look.ts';
import type { EndedAttempt, SessionChange, SessionLabel } from '../domain/sessions/session-change.ts';
import { quiet, tracing, WorkflowCalls, type WorkflowClientLog } from './calls.ts';
import {
  lookAgainSignal,
  type QueuedIngestInput,
  queuedIngestId,
  queuedIngestType,
  type SessionRunInput,
  type SharedSessionWindowInput,
  sessionWorkflowId,
  sessionWorkflowType,
  windowWorkflowId,
  windowWorkflowType,
} from './contract.ts';
import { type TemporalSettings, temporalConnection } from './settings.ts';

/** `failing`: its workflow task has failed and is tried again. */
export type SessionWorkflowHealth = 'running' | 'failing' | 'ended';

/**
 * What the workflow only takes note of is told a moment later: the engine's work for it would otherwise compete for the
 * processors with the reply, and with the waiting claim of a runner that the same commit woke.
 */
const noteDelayMs = 15;

const sessionIdKey = defineSearchAttributeKey('SessionId', SearchAttributeType.KEYWORD);
const projectIdKey = defineSearchAttributeKey('ProjectId', SearchAttributeType.INT);
const sessionTemplateKey = defineSearchAttributeKey('SessionTemplate', SearchAttributeType.KEYWORD);
const failedNodesKey = defineSearchAttributeKey('FailedNodes', SearchAttributeType.INT);

export class WorkflowClient {
  readonly namespace: string;
  private readonly connection: Connection;
  private readonly client: Client;
  private readonly completions: AsyncCompletionClient;
  private readonly taskQueue: string;
  private readonly calls: WorkflowCalls;

  constructor(settings: TemporalSettings, log: WorkflowClientLog, telemetry = quiet) {
    this.connection = Connection.lazy(temporalConnection(settings));
    this.namespace = settings.TEMPORAL_NAMESPACE;
    const options = { connection: this.connection, namespace: this.namespace };
    this.client = new Client({ ...options, interceptors: { workflow: [tracing(telemetry)] } });
    this.completions = new AsyncCompletionClient(options);
    this.taskQueue = settings.TEMPORAL_TASK_QUEUE;
    this.calls = new WorkflowCalls(this.connection, log, telemetry);
  }

  /** Notifies the workflow of what a commit changed: for `Database.onSessionChanged`. */
  readonly sessionChanged = (change: SessionChange): void => {
    const awaited = change.ended.filter((ended) => ended.awaited);
    const tell = (call: () => Promise<void>) =>
      this.calls.send(change.isUrgent ? call : () => sleep(noteDelayMs).then(call));
    for (const ended of awaited) tell(() => this.completeAttempt(change, ended));
    // The end of a wait has the session looked at too.
    if (change.wake && awaited.length === 0) tell(() => this.lookAgain(change.session));
  };

  /**
   * Shows in the workflow's pending activity who holds the attempt.
   * @param shown called when it is shown; not called while the workflow does not wait for the attempt
   */
  showHolder(
    sessionId: string,
    runId: string,
    attempt: number,
    holder: Readonly<Record<string, unknown>>,
    shown: () => void,
  ): void {
    this.calls.send(async () => {
      try {
        await this.completions.heartbeat(activityOf(sessionId, runId, attempt), holder);
        shown();
      } catch (error) {
        // Not waited for yet, or no more: there is nothing to show it in.
        if (!(error instanceof ActivityNotFoundError)) throw error;
      }
    });
  }

  /** Starts the session's workflow, or tells the running one to look again. */
  async lookAgain(session: SessionLabel): Promise<void> {
    await this.client.workflow.signalWithStart(sessionWorkflowType, {
      workflowId: sessionWorkflowId(session.sessionId),
      taskQueue: this.taskQueue,
      args: [{ sessionId: session.sessionId } satisfies SessionRunInput],
      signal: lookAgainSignal,
      signalArgs: [],
      staticSummary: `Session of template ${session.templateName}`,
      typedSearchAttributes: new TypedSearchAttributes([
        { key: sessionIdKey, value: session.sessionId },
        { key: projectIdKey, value: session.projectId },
        { key: sessionTemplateKey, value: session.templateName },
        { key: failedNodesKey, value: 0 },
      ]),
    });
  }

  /** Has the window's workflow look again, or starts it. Not to be awaited by a reply; the healer sees to what is lost. */
  tellWindow(session: SessionLabel): void {
    this.calls.send(() => this.lookAtWindow(session));
  }

  /** As {@link tellWindow}, awaited; throws when Temporal does not answer. */
  async lookAtWindowNow(session: SessionLabel): Promise<void> {
    await this.calls.make(() => this.lookAtWindow(session));
  }

  private async lookAtWindow({ sessionId, projectId, templateName }: SessionLabel): Promise<void> {
    await this.client.workflow.signalWithStart(windowWorkflowType, {
      workflowId: windowWorkflowId(sessionId),
      taskQueue: this.taskQueue,
      args: [{ sessionId } satisfies SharedSessionWindowInput],
      signal: lookAgainSignal,
      signalArgs: [],
      staticSummary: `Window of a session of template ${templateName}`,
      typedSearchAttributes: new TypedSearchAttributes([
        { key: sessionIdKey, value: sessionId },
        { key: projectIdKey, value: projectId },
        { key: sessionTemplateKey, value: templateName },
      ]),
    });
  }

  /** Ends the workflows of a deleted session; throws when Temporal does not answer. */
  async endSession(sessionId: string): Promise<void> {
    for (const workflowId of [sessionWorkflowId(sessionId), windowWorkflowId(sessionId)]) {
      try {
        await this.terminate(workflowId, 'The session was deleted.');
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      }
    }
  }

  /** Has a project's queue of uploads drained. Not to be awaited by a reply; the healer sees to what is lost. */
  tellQueue(projectId: number): void {
    this.calls.send(() => this.lookAtQueue(projectId));
  }

  /** As {@link tellQueue}, awaited; throws when Temporal does not answer. */
  async lookAtQueueNow(projectId: number): Promise<void> {
    await this.calls.make(() => this.lookAtQueue(projectId));
  }

  /** How the workflow of the project's queue is. */
  async queueHealth(projectId: number): Promise<SessionWorkflowHealth> {
    return this.health(queuedIngestId(projectId, this.taskQueue));
  }

  /** Ends a workflow that cannot go on; safe, because it holds no state. */
  async terminateQueue(projectId: number, reason: string): Promise<void> {
    await this.terminate(queuedIngestId(projectId, this.taskQueue), reason);
  }

  private async lookAtQueue(projectId: number): Promise<void> {
    await this.client.workflow.signalWithStart(queuedIngestType, {
      workflowId: queuedIngestId(projectId, this.taskQueue),
      taskQueue: this.taskQueue,
      args: [{ projectId } satisfies QueuedIngestInput],
      signal: lookAgainSignal,
      signalArgs: [],
      staticSummary: `Queued uploads of project ${projectId}`,
      typedSearchAttributes: new TypedSearchAttributes([{ key: projectIdKey, value: projectId }]),
    });
  }

  /** How the session's workflow is. */
  async sessionHealth(sessionId: string): Promise<SessionWorkflowHealth> {
    return this.health(sessionWorkflowId(sessionId));
  }

  /** How the workflow of the session's window is. */
  async windowHealth(sessionId: string): Promise<SessionWorkflowHealth> {
    return this.health(windowWorkflowId(sessionId));
  }

  private async health(workflowId: string): Promise<SessionWorkflowHealth> {
    return this.calls.make(async () => {
      try {
        const { status, raw } = await this.client.workflow.getHandle(workflowId).describe();
        if (status.name !== 'RUNNING') return 'ended';
        return (raw.pendingWorkflowTask?.attempt ?? 1) > 1 ? 'failing' : 'running';
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return 'ended';
        throw error;
      }
    });
  }

  /** Ends a workflow that cannot go on; safe, because it holds no state. */
  async terminateSession(sessionId: string, reason: string): Promise<void> {
    await this.terminate(sessionWorkflowId(sessionId), reason);
  }

  /** As {@link terminateSession}, of the session's window. */
  async terminateWindow(sessionId: string, reason: string): Promise<void> {
    await this.terminate(windowWorkflowId(sessionId), reason);
  }

  private async terminate(workflowId: string, reason: string): Promise<void> {
    await this.calls.make(() => this.client.workflow.getHandle(workflowId).terminate(reason));
  }

  /** As {@link lookAgain}, with the deadline of every call made here; throws when Temporal does not answer. */
  async lookAgainNow(session: SessionLabel): Promise<void> {
    await this.calls.make(() => this.lookAgain(session));
  }

  /** Rejects when Temporal does not answer. */
  async ping(): Promise<void> {
    await this.calls.make(() => this.connection.workflowService.getSystemInfo({}));
  }

  /** Waits for the calls under way and closes the connection. */
  async close(): Promise<void> {
    await this.calls.settled();
    await this.connection.close();
  }

  /**
   * Ends the wait for an attempt. When nobody waits (not yet, or the workflow is gone or just continued as new), somebody
   * must look; but only for the commit that turned the session wanted: the look that follows that one sees this too,
   * and a flood of signals would drown the workflow.
   */
  private async completeAttempt({ session, wake }: SessionChange, ended: EndedAttempt): Promise<void> {
    try {
      await this.completions.complete(activityOf(session.sessionId, ended.runId, ended.attempt), {
        outcome: ended.outcome,
      });
    } catch (error) {
      if (!(error instanceof ActivityNotFoundError)) throw error;
      if (wake) await this.lookAgain(session);
    }
  }
}

function activityOf(sessionId: string, runId: string, attempt: number) {
  return { workflowId: sessionWorkflowId(sessionId), activityId: attemptActivityId(runId, attempt) };
}
