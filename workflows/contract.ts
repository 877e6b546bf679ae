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

export const sessionWorkflowType = 'sessionRun';

export function sessionWorkflowId(sessionId: string): string {
  return `session-${sessionId}`;
}

export const windowWorkflowType = 'sharedSessionWindow';

/** The workflow of a shared session's window. */
export function windowWorkflowId(sessionId: string): string {
  return `window-${sessionId}`;
}

export const queuedIngestType = 'queuedIngest';

/**
 * The workflow of a project's queued uploads. Project ids count from 1 in every installation, so where several share a
 * namespace (each then has a task queue of its own) the queue's name tells them apart.
 */
export function queuedIngestId(projectId: number, taskQueue: string): string {
  return taskQueue === defaultTaskQueue ? `ingest-${projectId}` : `ingest-${projectId}.${taskQueue}`;
}

/**
 * "Look again." A signal, not an update, because nobody waits for an answer; it carries nothing, because whatever is
 * decided is decided from the database, so a lost, doubled or late one changes nothing.
 */
export const lookAgainSignal = 'lookAgain';

/** Header of Temporal's messages that carries a W3C `traceparent`, where something is traced. */
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
