/** Histories of a webhook's workflow that is woken while its activity runs. */
import { MadeHistory } from './made-history.ts';

/**
 * Its activity answers each time that nothing is pending, and the workflow is woken meanwhile, so many times.
 * @param end the last event: the workflow has nothing to do, or continues as new at once after the last wake
 */
export function wokenHistory(wakes: number, end: 'completed' | 'continued'): string {
  const history = new MadeHistory('webhook.json');
  const activity = (number: number, isWoken: boolean) => {
    const scheduledEventId = history.command('ACTIVITY_TASK_SCHEDULED', { activityId: `${number}` });
    const startedEventId = history.add('ACTIVITY_TASK_STARTED', { scheduledEventId });
    if (isWoken) history.add('WORKFLOW_EXECUTION_SIGNALED');
    history.add('ACTIVITY_TASK_COMPLETED', { scheduledEventId, startedEventId });
    history.workflowTask();
  };
  for (let wake = 1; wake <= wakes; wake += 1) activity(wake, true);
  if (end === 'continued') history.continuedAsNew();
  else {
    activity(wakes + 1, false);
    history.command('WORKFLOW_EXECUTION_COMPLETED');
  }
  return history.text;
}
