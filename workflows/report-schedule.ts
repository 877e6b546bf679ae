/**
 * The workflow of one report schedule: waits for its times while it is enabled.
 *
 * It decides nothing: the activity writes what the database says is due, and the healer makes up for a lost signal. A
 * schedule that is changed wakes it.
 */
import { ActivityCancellationType, continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { ReportActivities } from '../activities/scheduled-reports.ts';
import { activityNames, builtinQueueOf, type ReportScheduleInput } from './contract.ts';
import { whileDue } from './due-loop.ts';

/** @returns how it ended, for readers of the history */
export async function reportSchedule(input: ReportScheduleInput): Promise<string> {
  const { [activityNames.writeReports]: write } = proxyActivities<ReportActivities>({
    taskQueue: builtinQueueOf(workflowInfo().taskQueue),
    startToCloseTimeout: '1 hour',
    heartbeatTimeout: '20s',
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1 minute' },
  });
  await whileDue(
    () => write(input.scheduleId),
    () => continueAsNew<typeof reportSchedule>(input),
  );
  return 'Nothing is scheduled.';
}
