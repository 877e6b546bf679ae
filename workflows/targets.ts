/** The kinds of workflow as values: what each is named, what starts it, and what operators see of it. */
import { defineSearchAttributeKey, SearchAttributeType, TypedSearchAttributes } from '@temporalio/common';
import type { SessionLabel } from '../domain/sessions/session-change.ts';
import {
  type QueuedIngestInput,
  queuedIngestId,
  type ReportScheduleInput,
  reportScheduleWorkflowId,
  type SessionRunInput,
  type SharedSessionWindowInput,
  sessionWorkflowId,
  type WebhookDeliveryInput,
  webhookWorkflowId,
  windowWorkflowId,
  workflowTypes,
} from './contract.ts';

export interface WorkflowTarget {
  readonly type: (typeof workflowTypes)[keyof typeof workflowTypes];
  /** @param taskQueue the queue of the installation's workflows */
  readonly workflowId: (taskQueue: string) => string;
  readonly input:
    | SessionRunInput
    | SharedSessionWindowInput
    | QueuedIngestInput
    | WebhookDeliveryInput
    | ReportScheduleInput;
  readonly summary: string;
  readonly searchAttributes: TypedSearchAttributes;
}

const sessionIdKey = defineSearchAttributeKey('SessionId', SearchAttributeType.KEYWORD);
const projectIdKey = defineSearchAttributeKey('ProjectId', SearchAttributeType.INT);
const sessionTemplateKey = defineSearchAttributeKey('SessionTemplate', SearchAttributeType.KEYWORD);
const failedNodesKey = defineSearchAttributeKey('FailedNodes', SearchAttributeType.INT);

const labelAttributes = ({ sessionId, projectId, templateName }: SessionLabel) => [
  { key: sessionIdKey, value: sessionId },
  { key: projectIdKey, value: projectId },
  { key: sessionTemplateKey, value: templateName },
];

/** The workflow that plans a session's runs and waits for them. */
export function sessionTarget(session: SessionLabel): WorkflowTarget {
  return {
    type: workflowTypes.session,
    workflowId: () => sessionWorkflowId(session.sessionId),
    input: { sessionId: session.sessionId },
    summary: `Session of template ${session.templateName}`,
    searchAttributes: new TypedSearchAttributes([
      ...labelAttributes(session),
      { key: failedNodesKey, value: 0 },
    ]),
  };
}

/** The workflow that waits for the end of a shared session's window. */
export function windowTarget(session: SessionLabel): WorkflowTarget {
  return {
    type: workflowTypes.window,
    workflowId: () => windowWorkflowId(session.sessionId),
    input: { sessionId: session.sessionId },
    summary: `Window of a session of template ${session.templateName}`,
    searchAttributes: new TypedSearchAttributes(labelAttributes(session)),
  };
}

/** The workflow that publishes a project's queued uploads. */
export function queueTarget(projectId: number): WorkflowTarget {
  return {
    type: workflowTypes.queue,
    workflowId: (taskQueue) => queuedIngestId(projectId, taskQueue),
    input: { projectId },
    summary: `Queued uploads of project ${projectId}`,
    searchAttributes: new TypedSearchAttributes([{ key: projectIdKey, value: projectId }]),
  };
}

/** The workflow that sends a webhook's deliveries. */
export function webhookTarget(webhookId: string): WorkflowTarget {
  return {
    type: workflowTypes.webhook,
    workflowId: () => webhookWorkflowId(webhookId),
    input: { webhookId },
    summary: 'Deliveries of a webhook',
    searchAttributes: new TypedSearchAttributes([]),
  };
}

/** The workflow that writes the reports of a schedule at its times. */
export function reportScheduleTarget(scheduleId: string): WorkflowTarget {
  return {
    type: workflowTypes.reports,
    workflowId: () => reportScheduleWorkflowId(scheduleId),
    input: { scheduleId },
    summary: 'Scheduled reports',
    searchAttributes: new TypedSearchAttributes([]),
  };
}
