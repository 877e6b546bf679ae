/**
 * What workflows, their client and their workers share: names, ids, messages. Plain values only: the workflow bundle
 * contains this file.
 */

/** The queue of session, window and ingest workflows; built-in nodes run on one of their own. */
export const defaultTaskQueue = 'sdp';

/** The task queue of built-in node runs that belongs to a queue of workflows. */
export function builtinQueueOf(taskQueue: string): string {
  return `${taskQueue}-builtin`;
}

/** The queue of webhook deliveries: a receiver that does not answer must hold up no session. */
export function webhookQueueOf(taskQueue: string): string {
  return `${taskQueue}-webhooks`;
}

/** Saved histories hold these names, so they never change, even if the code renames what they stand for. */
export const workflowTypes = {
  session: 'sessionRun',
  window: 'sharedSessionWindow',
  queue: 'queuedIngest',
  webhook: 'webhookDelivery',
  reports: 'reportSchedule',
} as const;

/** As {@link workflowTypes}: names of activities in saved histories. */
export const activityNames = {
  reconcileSession: 'advance',
  awaitOutcome: 'awaitOutcome',
  runBuiltin: 'runBuiltin',
  reconcileWindow: 'lookAtWindow',
  endWindow: 'endWindow',
  drainQueue: 'drainQueue',
  deliverWebhook: 'deliverWebhook',
  writeReports: 'writeReports',
} as const;

/**
 * Makes a workflow reconcile itself with the database; its name is in saved histories too. A signal, not an update,
 * because the sender needs no answer. It carries nothing: a workflow decides from the database alone, so a lost,
 * doubled or late signal changes nothing.
 */
export const wakeSignal = 'lookAgain';

export function sessionWorkflowId(sessionId: string): string {
  return `session-${sessionId}`;
}

/** The workflow of a shared session's window. */
export function windowWorkflowId(sessionId: string): string {
  return `window-${sessionId}`;
}

/**
 * The workflow of a project's queued uploads. Project ids count from 1 in every installation, so where several share a
 * namespace (each then has a task queue of its own) the queue's name distinguishes them.
 */
export function queuedIngestId(projectId: number, taskQueue: string): string {
  return taskQueue === defaultTaskQueue ? `ingest-${projectId}` : `ingest-${projectId}.${taskQueue}`;
}

export function webhookWorkflowId(webhookId: string): string {
  return `webhook-${webhookId}`;
}

export function reportScheduleWorkflowId(scheduleId: string): string {
  return `report-schedule-${scheduleId}`;
}

/** Header of Temporal's messages that carries a W3C `traceparent`, when tracing is on. */
export const traceHeader = 'traceparent';

/** What the session's workflow is started with. */
export interface SessionRunInput {
  readonly sessionId: string;
}

/** What the workflow of a shared session's window is started with. */
export interface SharedSessionWindowInput {
  readonly sessionId: string;
}

/** What the workflow of a project's queued uploads is started with. */
export interface QueuedIngestInput {
  readonly projectId: number;
}

/** What the workflow of a webhook's deliveries is started with. */
export interface WebhookDeliveryInput {
  readonly webhookId: string;
}

/** What the workflow of a report schedule is started with. */
export interface ReportScheduleInput {
  readonly scheduleId: string;
}

/** How an awaited attempt ended, as its activity reports it: a reported failure is a successful completion too. */
export interface AttemptResult {
  readonly outcome: string;
}

/** Search attributes; the local server and every worker make sure that they exist. */
export const searchAttributes = {
  SessionId: 'KEYWORD',
  ProjectId: 'INT',
  SessionTemplate: 'KEYWORD',
  FailedNodes: 'INT',
} as const;
