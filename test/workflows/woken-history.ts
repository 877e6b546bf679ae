/** Histories of a webhook's workflow that is woken while its activity runs, made of the events of a recorded one. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Event {
  readonly eventType: string;
  readonly [attributes: string]: unknown;
}

const file = join(import.meta.dirname, '../histories/webhook.json');
const recorded = (JSON.parse(readFileSync(file, 'utf8')) as { events: Event[] }).events;

/**
 * Its activity answers each time that nothing is pending, and the workflow is woken meanwhile, so many times.
 * @param end the last event: the workflow has nothing to do, or continues as new at once after the last wake
 */
export function wokenHistory(wakes: number, end: 'completed' | 'continued'): string {
  const events: object[] = [];
  /** An event as the last recorded one of its type, with other references. @returns its id */
  const add = (type: string, references: Readonly<Record<string, unknown>> = {}): string => {
    const event = recorded.findLast(({ eventType }) => eventType === `EVENT_TYPE_${type}`)!;
    const name = Object.keys(event).find((key) => key.endsWith('EventAttributes'))!;
    const eventId = `${events.length + 1}`;
    events.push({ ...event, eventId, [name]: { ...(event[name] as object), ...references } });
    return eventId;
  };
  const workflowTask = (): string => {
    const scheduledEventId = add('WORKFLOW_TASK_SCHEDULED');
    const startedEventId = add('WORKFLOW_TASK_STARTED', { scheduledEventId });
    return add('WORKFLOW_TASK_COMPLETED', { scheduledEventId, startedEventId });
  };
  const activity = (number: number, workflowTaskCompletedEventId: string, isWoken: boolean): string => {
    const activityId = `${number}`;
    const scheduledEventId = add('ACTIVITY_TASK_SCHEDULED', { activityId, workflowTaskCompletedEventId });
    const startedEventId = add('ACTIVITY_TASK_STARTED', { scheduledEventId });
    if (isWoken) add('WORKFLOW_EXECUTION_SIGNALED');
    add('ACTIVITY_TASK_COMPLETED', { scheduledEventId, startedEventId });
    return workflowTask();
  };

  add('WORKFLOW_EXECUTION_STARTED');
  let workflowTaskCompletedEventId = workflowTask();
  for (let wake = 1; wake <= wakes; wake += 1)
    workflowTaskCompletedEventId = activity(wake, workflowTaskCompletedEventId, true);
  if (end === 'completed') {
    workflowTaskCompletedEventId = activity(wakes + 1, workflowTaskCompletedEventId, false);
    add('WORKFLOW_EXECUTION_COMPLETED', { workflowTaskCompletedEventId });
    return JSON.stringify({ events });
  }
  const { workflowType, taskQueue, input } = recorded[0]!.workflowExecutionStartedEventAttributes as Event;
  events.push({
    ...recorded.at(-1)!,
    workflowExecutionCompletedEventAttributes: undefined,
    eventId: `${events.length + 1}`,
    eventType: 'EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW',
    workflowExecutionContinuedAsNewEventAttributes: {
      ...{ workflowType, taskQueue, input, workflowTaskCompletedEventId },
      newExecutionRunId: 'next',
    },
  });
  return JSON.stringify({ events });
}
