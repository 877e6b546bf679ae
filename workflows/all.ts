/** The workflows of the bundle, by their type names. */
export { queuedIngest } from './queued-ingest.ts';
export { reportSchedule } from './report-schedule.ts';
export { sessionRun } from './session-run.ts';
export { sharedSessionWindow } from './shared-session-window.ts';
export { webhookDelivery } from './webhook-delivery.ts';
