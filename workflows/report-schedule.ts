/**
 * The workflow of one report schedule: waits for its times while it is enabled.
 *
 * It decides nothing: the activity writes what the database says is due, and the healer makes up for a lost signal. A
 * schedule that is changed wakes it.
 */
import {
  ActivityCancellationType,
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { ReportActivities } from '../activities/scheduled-reports.ts';
import { activityNames, builtinQueueOf, type ReportScheduleInput, wakeSignal } from './contract.ts';

const wake = defineSignal(wakeSignal);
/** Beyond this many events the workflow continues as new. */
const maxHistoryEvents = 1_000;

/** @returns how it ended, for readers of the history */
export async function reportSchedule(input: ReportScheduleInput): Promise<string> {
  const { [activityNames.writeReports]: write } = proxyActivities<ReportActivities>({
    taskQueue: builtinQueueOf(workflowInfo().taskQueue),
    startToCloseTimeout: '1 hour',
    heartbeatTimeout: '20s',
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1 minute' },
  });
  let dirty = true;
  setHandler(wake, () => {
    dirty = true;
  });
  for (;;) {
    dirty = false;
    const { nextInSeconds } = await write(input.scheduleId);
    // A signal may have come while the activity answered.
    if (nextInSeconds === null && !dirty) return 'Nothing is scheduled.';
    if (nextInSeconds !== null && !dirty) await condition(() => dirty, Math.max(nextInSeconds * 1_000, 1));
    if (workflowInfo().historyLength > maxHistoryEvents) await continueAsNew<typeof reportSchedule>(input);
  }
}
