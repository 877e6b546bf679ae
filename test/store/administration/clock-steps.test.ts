/** What waits after the clock of the database was a day ahead and was put back. */
import { expect, test } from 'vitest';
import { planAgainAfterClockStep } from '../../../store/administration/clock-steps.ts';
import { ask } from '../../support/api.ts';
import { runnerStage } from '../../support/runner.ts';

const stage = await runnerStage({ WEBHOOK_ALLOWLIST: '127.0.0.1' });
const { api, people, database } = stage;
const later = `interval '1 day'`;

/** Seconds from now; null without a time. */
async function secondsUntil(table: string, column: string, id: string): Promise<number | null> {
  const [row] = await database.query<{ seconds: number | null }>(
    `select extract(epoch from ${column} - clock_timestamp())::float8 as seconds from ${table} where id = $1`,
    [id],
  );
  return row!.seconds;
}

async function newDelivery(): Promise<string> {
  const json = { url: 'http://127.0.0.1:9/hook', events: ['node.failed'] };
  const { body } = await ask(api.url, 'POST', '/api/v2/admin/webhooks', {
    token: people.Developer.token,
    json,
  });
  const [row] = await database.query<{ id: string }>(
    `insert into webhook_delivery (webhook_id, type, data, due_at, attempts, attempt_log)
     values ($1, 'node.failed', '{}', clock_timestamp() + interval '5 minutes', 1,
             jsonb_build_array(jsonb_build_object('at', clock_timestamp()))) returning id`,
    [body.id],
  );
  return row!.id;
}

/** A run whose first attempt failed. */
async function waitingRun(): Promise<string> {
  const graph = await stage.chainOf(1);
  await stage.upload(graph, 'input', '1');
  const runner = stage.runner();
  const task = await runner.acquire(graph.template);
  await runner.end(task.taskId, 'fail', { reason: 'no licence', category: 'error' });
  const [run] = await database.query<{ id: string; state: string }>(
    'select id, state from node_run where session_id = $1',
    [graph.sessionId],
  );
  expect(run!.state).toBe('waiting');
  return run!.id;
}

test('a delivery, a retry, a lease and a report that were planned by a clock ahead come at their time; others stay', async () => {
  const [delivery, otherDelivery, run, otherRun] = [
    await newDelivery(),
    await newDelivery(),
    await waitingRun(),
    await waitingRun(),
  ];
  const schedules = await Promise.all(
    ['hour', 'month'].map((every) =>
      ask(api.url, 'POST', '/api/v2/dashboard/report-schedules', {
        token: people.Developer.token,
        json: { reportKey: 'session-list', every },
      }),
    ),
  );
  const [hourly, monthly] = schedules.map(({ body }) => body.id) as [string, string];
  const monthlyBefore = await secondsUntil('report_schedule', 'next_at', monthly);
  const otherRunBefore = await secondsUntil('node_run', 'due_at', otherRun);
  await database.query(
    `update webhook_delivery set due_at = due_at + ${later}, created_at = created_at + ${later},
            attempt_log = jsonb_build_array(jsonb_build_object('at', clock_timestamp() + ${later})) where id = $1`,
    [delivery],
  );
  await database.query(`update node_run set due_at = due_at + ${later} where id = $1`, [run]);
  await database.query(`update node_attempt set ended_at = ended_at + ${later} where run_id = $1`, [run]);
  await database.query(
    `update report_schedule set next_at = next_at + ${later}, healed_at = clock_timestamp() + ${later} where id = $1`,
    [hourly],
  );

  const held = await stage.chainOf(1);
  await stage.upload(held, 'input', '1');
  const { taskId } = await stage.runner().acquire(held.template);
  await database.query(`update node_claim set lease_until = lease_until + ${later} where task_id = $1`, [
    taskId,
  ]);

  expect(await planAgainAfterClockStep(database)).toBe(5);

  expect(await secondsUntil('webhook_delivery', 'due_at', delivery)).toBeLessThanOrEqual(0);
  expect(await secondsUntil('node_run', 'due_at', run)).toBeLessThanOrEqual(0);
  const [claim] = await database.query<{ isShort: boolean }>(
    `select lease_until < clock_timestamp() + interval '2 minutes' as is_short from node_claim where task_id = $1`,
    [taskId],
  );
  expect(claim!.isShort).toBe(true);
  expect(await secondsUntil('report_schedule', 'next_at', hourly)).toBeLessThanOrEqual(3_600);
  expect(await secondsUntil('report_schedule', 'healed_at', hourly)).toBe(Number.NEGATIVE_INFINITY);
  expect(await secondsUntil('webhook_delivery', 'due_at', otherDelivery)).toBeGreaterThan(200);
  expect(await secondsUntil('node_run', 'due_at', otherRun)).toBeGreaterThan(otherRunBefore! - 60);
  expect(await secondsUntil('report_schedule', 'next_at', monthly)).toBeGreaterThan(monthlyBefore! - 60);
  expect(await planAgainAfterClockStep(database)).toBe(0);
});
