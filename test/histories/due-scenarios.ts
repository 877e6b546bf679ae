import { createSchedule, deleteSchedule, runScheduleNow } from '../../store/reports/schedules.ts';
import { queueTestDelivery } from '../../store/webhooks/deliveries.ts';
import { createWebhook, deleteWebhook } from '../../store/webhooks/webhooks.ts';
import { reportScheduleWorkflowId, webhookWorkflowId } from '../../workflows/contract.ts';
import { reportScheduleTarget, webhookTarget } from '../../workflows/targets.ts';
import { eventually } from '../support/eventually.ts';
import { operatorId } from '../support/graph.ts';
import type { Scenario, Stage } from './stage.ts';

const timers = (stage: Stage, workflowId: string, count: number) =>
  eventually(`${count} timers`, async () => {
    const { events } = await stage.operator.workflow.getHandle(workflowId).fetchHistory();
    return events?.filter((event) => event.timerStartedEventAttributes).length === count;
  });

/** Workflows that do what is due and wait for the next time. */
export const dueScenarios: Readonly<Record<string, Scenario>> = {
  /** A schedule that waits for its time, is run at once, waits again, and is deleted. */
  async reports(stage) {
    const { database, workflows } = stage;
    const fields = { format: 'csv', every: 'month', atMinute: 0, weekday: 1, monthDay: 1 } as const;
    const written = await createSchedule(
      database,
      {
        ...fields,
        ...{ reportKey: 'session-list', projectId: null, timeZone: 'UTC', periodDays: null },
        ...{ keptFiles: 1, enabled: true },
      },
      operatorId,
    );
    if (written.outcome !== 'saved') throw new Error(written.outcome);
    const { id } = written.schedule;
    const workflowId = reportScheduleWorkflowId(id);
    await workflows.wake(reportScheduleTarget(id));
    await timers(stage, workflowId, 1);
    await runScheduleNow(database, id);
    await workflows.wake(reportScheduleTarget(id));
    await timers(stage, workflowId, 2);
    await deleteSchedule(database, id);
    await workflows.wake(reportScheduleTarget(id));
    return { sessionId: id, workflowId };
  },

  /** A delivery that is refused and waits for its next attempt, until its webhook is deleted. */
  async webhook(stage) {
    const { database, objects, workflows } = stage;
    const fields = {
      url: 'https://10.0.0.1',
      events: ['node.failed'],
      projectId: null,
      enabled: true,
    } as const;
    const written = await createWebhook(database, objects.secrets, fields, 'whsec_AAAA', operatorId);
    if (written.outcome !== 'saved') throw new Error(written.outcome);
    const { id } = written.webhook;
    const workflowId = webhookWorkflowId(id);
    await queueTestDelivery(database, id);
    await eventually('the workflow starts', () =>
      stage.operator.workflow
        .getHandle(workflowId)
        .describe()
        .catch(() => undefined),
    );
    await timers(stage, workflowId, 1);
    await deleteWebhook(database, id);
    await workflows.wake(webhookTarget(id));
    return { sessionId: id, workflowId };
  },
};
