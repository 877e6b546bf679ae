/**
 * The only caller of Temporal's client, for the API and the worker; never used by a workflow.
 *
 * Every call follows a commit and may be lost: decisions are in the database, and the healer makes up for lost calls.
 * So every call has a deadline, and a Temporal that is down slows no caller.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import {
  ActivityNotFoundError,
  AsyncCompletionClient,
  Client,
  Connection,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { attemptActivityId } from '../domain/runs/reconcile-result.ts';
import type { EndedAttempt, SessionChange } from '../domain/sessions/session-change.ts';
import { noTelemetry, tracing, WorkflowCalls, type WorkflowClientLog } from './calls.ts';
import { sessionWorkflowId, wakeSignal, windowWorkflowId } from './contract.ts';
import { type TemporalSettings, temporalConnection } from './settings.ts';
import { sessionTarget, type WorkflowTarget } from './targets.ts';

/** An attempt that a runner holds. */
export interface HeldAttempt {
  readonly sessionId: string;
  readonly runId: string;
  readonly attempt: number;
}

/**
 * `failing`: its workflow task has failed and is tried again. `slow`: the task was not answered in time and is tried again,
 * as when the machine has too much to do.
 */
export type WorkflowHealth = 'running' | 'slow' | 'failing' | 'ended';

/** What a repair found or did: `running` says that the workflow was only notified. */
export type WorkflowRepair = 'running' | 'started' | 'restarted';

/**
 * The workflow is notified a moment later of what it only records: the engine's work for it would otherwise compete for
 * the processors with the reply, and with the waiting claim of a runner that the same commit woke.
 */
const noteDelayMs = 15;
const repairDeadlineMs = 10_000;
/** The end of the last try of a workflow task is among them. */
const newestEvents = 50;

export class WorkflowClient {
  readonly namespace: string;
  readonly #connection: Connection;
  readonly #client: Client;
  readonly #completions: AsyncCompletionClient;
  readonly #taskQueue: string;
  readonly #calls: WorkflowCalls;

  constructor(settings: TemporalSettings, log: WorkflowClientLog, telemetry = noTelemetry) {
    this.#connection = Connection.lazy(temporalConnection(settings));
    this.namespace = settings.TEMPORAL_NAMESPACE;
    const options = { connection: this.#connection, namespace: this.namespace };
    this.#client = new Client({ ...options, interceptors: { workflow: [tracing(telemetry)] } });
    this.#completions = new AsyncCompletionClient(options);
    this.#taskQueue = settings.TEMPORAL_TASK_QUEUE;
    this.#calls = new WorkflowCalls(this.#connection, log, telemetry);
  }

  /** Notifies the workflow of what a commit changed: for `Database.onSessionChanged`. */
  readonly sessionChanged = (change: SessionChange): void => {
    const awaited = change.ended.filter((ended) => ended.awaited);
    const send = (call: () => Promise<void>) =>
      this.#calls.send(change.isUrgent ? call : () => sleep(noteDelayMs).then(call));
    for (const ended of awaited) send(() => this.#completeAttempt(change, ended));
    // The end of a wait makes the workflow reconcile too.
    if (change.wake && awaited.length === 0) send(() => this.#signal(sessionTarget(change.session)));
  };

  /**
   * Shows in the workflow's pending activity who holds the attempt.
   * @param options `notifies`: a workflow that does not wait for the attempt is notified. `done`: called when the holder
   *   is shown or the workflow notified; not after a failure, nor when there is nothing to show it in
   */
  showHolder(
    { sessionId, runId, attempt }: HeldAttempt,
    holder: Readonly<Record<string, unknown>>,
    { notifies, done }: { readonly notifies: boolean; readonly done: (result: 'shown' | 'notified') => void },
  ): void {
    this.#calls.send(async () => {
      try {
        await this.#completions.heartbeat(activityOf(sessionId, runId, attempt), holder);
        done('shown');
      } catch (error) {
        // Not yet or no longer awaited: there is nothing to show it in.
        if (!(error instanceof ActivityNotFoundError)) throw error;
        if (!notifies) return;
        const handle = this.#client.workflow.getHandle(sessionWorkflowId(sessionId));
        // One that is not there is left to the healer, and finds the attempt when it starts.
        await unlessGone(() => handle.signal(wakeSignal));
        done('notified');
      }
    });
  }

  /** Has the workflow reconcile itself with the database, or starts it; throws when Temporal does not answer. */
  async wake(target: WorkflowTarget): Promise<void> {
    await this.#calls.make(() => this.#signal(target));
  }

  /** As {@link wake}, after the reply. The healer makes up for a lost call. */
  notify(target: WorkflowTarget): void {
    this.#calls.send(() => this.#signal(target));
  }

  async health(target: WorkflowTarget): Promise<WorkflowHealth> {
    return this.#calls.make(() => this.#describe(target));
  }

  /**
   * As {@link wake}, and restarts a workflow that cannot continue, which is safe because it holds no state. An operator
   * may wait for this: a busy engine gets longer than for other calls.
   */
  async repair(
    target: WorkflowTarget,
    restarted: readonly WorkflowHealth[] = ['failing', 'slow'],
  ): Promise<WorkflowRepair> {
    return this.#calls.make(async () => {
      const health = await this.#describe(target);
      const isRestarted = restarted.includes(health);
      if (isRestarted) await this.#handleOf(target).terminate(`Restarted: its workflow task is ${health}.`);
      await this.#signal(target);
      if (health === 'ended') return 'started';
      return isRestarted ? 'restarted' : 'running';
    }, repairDeadlineMs);
  }

  /** Ends the workflows of a deleted session; throws when Temporal does not answer. */
  async endSession(sessionId: string): Promise<void> {
    for (const workflowId of [sessionWorkflowId(sessionId), windowWorkflowId(sessionId)]) {
      const handle = this.#client.workflow.getHandle(workflowId);
      await unlessGone(() => this.#calls.make(() => handle.terminate('The session was deleted.')));
    }
  }

  /** Rejects when Temporal does not answer. */
  async ping(): Promise<void> {
    await this.#calls.make(() => this.#connection.workflowService.getSystemInfo({}));
  }

  /** Waits for the calls under way and closes the connection. */
  async close(): Promise<void> {
    await this.#calls.settled();
    await this.#connection.close();
  }

  async #signal({ type, workflowId, input, summary, searchAttributes }: WorkflowTarget): Promise<void> {
    await this.#client.workflow.signalWithStart(type, {
      workflowId: workflowId(this.#taskQueue),
      taskQueue: this.#taskQueue,
      args: [input],
      signal: wakeSignal,
      signalArgs: [],
      staticSummary: summary,
      typedSearchAttributes: searchAttributes,
    });
  }

  async #describe(target: WorkflowTarget): Promise<WorkflowHealth> {
    try {
      const { status, raw, workflowId, runId } = await this.#handleOf(target).describe();
      if (status.name !== 'RUNNING') return 'ended';
      if ((raw.pendingWorkflowTask?.attempt ?? 1) <= 1) return 'running';
      return (await this.#wasLate(workflowId, runId)) ? 'slow' : 'failing';
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return 'ended';
      throw error;
    }
  }

  /** Whether the last try of its workflow task was not answered in time, rather than failed. */
  async #wasLate(workflowId: string, runId: string): Promise<boolean> {
    const { history } = await this.#connection.workflowService.getWorkflowExecutionHistoryReverse({
      namespace: this.namespace,
      execution: { workflowId, runId },
      maximumPageSize: newestEvents,
    });
    const last = history?.events?.find(
      (event) => event.workflowTaskFailedEventAttributes || event.workflowTaskTimedOutEventAttributes,
    );
    return Boolean(last?.workflowTaskTimedOutEventAttributes);
  }

  #handleOf(target: WorkflowTarget) {
    return this.#client.workflow.getHandle(target.workflowId(this.#taskQueue));
  }

  /**
   * Ends the wait for an attempt. When the workflow does not wait for it (not yet, it is gone, or it just continued as
   * new), the session must be reconciled; but only for the commit that made the session need it: that reconcile sees
   * this end too, and a flood of signals would overload the workflow.
   */
  async #completeAttempt({ session, wake }: SessionChange, ended: EndedAttempt): Promise<void> {
    try {
      await this.#completions.complete(activityOf(session.sessionId, ended.runId, ended.attempt), {
        outcome: ended.outcome,
      });
    } catch (error) {
      if (!(error instanceof ActivityNotFoundError)) throw error;
      if (wake) await this.#signal(sessionTarget(session));
    }
  }
}

async function unlessGone(call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

function activityOf(sessionId: string, runId: string, attempt: number) {
  return { workflowId: sessionWorkflowId(sessionId), activityId: attemptActivityId(runId, attempt) };
}
