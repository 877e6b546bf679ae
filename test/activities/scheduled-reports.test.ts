/** Scheduled reports that cannot be stored: which are tried again, for how long, and what is said of the others. */
import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { createReportActivities } from '../../activities/scheduled-reports.ts';
import type { ActivityServices } from '../../activities/services.ts';
import { limits } from '../../domain/limits.ts';
import { ObjectStoreError, ObjectTooLarge } from '../../store/objects/object-store.ts';
import { acquireDueReport, failReport } from '../../store/reports/scheduled-files.ts';
import { createSchedule, runScheduleNow } from '../../store/reports/schedules.ts';
import { activityNames } from '../../workflows/contract.ts';
import { databaseStage } from '../support/databases.ts';
import { operatorId } from '../support/graph.ts';

const { database } = await databaseStage(4);
await database.query(`insert into data_source (name) values ('platform') on conflict do nothing`);

/** A schedule whose file is due, and one attempt to write it. @param put throws what the store does */
async function due(put: (options: { readonly maxBytes: number }) => never) {
  const services = {
    database,
    log: pino({ enabled: false }),
    objects: { of: () => ({ put: async (_key: string, _body: unknown, options: never) => put(options) }) },
    pending: { hold: (_object: unknown, work: () => Promise<unknown>) => work() },
  } as unknown as ActivityServices;
  const written = await createSchedule(
    database,
    {
      ...{ format: 'csv', every: 'month', atMinute: 0, weekday: 1, monthDay: 1, timeZone: 'UTC' },
      ...{ reportKey: 'session-list', projectId: null, periodDays: null, keptFiles: 1, enabled: true },
    },
    operatorId,
  );
  if (written.outcome !== 'saved') throw new Error(written.outcome);
  const { id } = written.schedule;
  await runScheduleNow(database, id);
  const { [activityNames.writeReports]: write } = createReportActivities(services);
  return {
    id,
    attempt: () => new MockActivityEnvironment().run(write, id),
    file: async () => {
      const [file] = await database.query(
        'select state, error, attempts from report_file where schedule_id = $1',
        [id],
      );
      return file;
    },
  };
}

describe('the file of a schedule', () => {
  test('that would be too large fails at once, and the next one is planned', async () => {
    let allowedBytes = 0;
    const { attempt, file } = await due(({ maxBytes }) => {
      allowedBytes = maxBytes;
      throw new ObjectTooLarge(maxBytes);
    });
    expect(await attempt()).toEqual({ written: 0, nextInSeconds: expect.any(Number) });
    expect(allowedBytes).toBe(limits.reportFileBytes);
    const error = `The file would be larger than ${limits.reportFileBytes / 1024 ** 2} MiB.`;
    expect(await file()).toEqual({ state: 'failed', error, attempts: 1 });
  });

  test('that a fault keeps from being written is tried three times', async () => {
    const { attempt, file } = await due(() => {
      throw new Error('odd');
    });
    for (let tries = 1; tries < 3; tries += 1) await expect(attempt()).rejects.toThrow('odd');
    expect(await attempt()).toMatchObject({ written: 0 });
    expect(await file()).toMatchObject({ state: 'failed', attempts: 3 });
  });

  test('waits an hour for a store that is away', async () => {
    const { id, attempt, file } = await due(() => {
      throw new ObjectStoreError('failed', null, new Error('away'));
    });
    for (let tries = 1; tries < 5; tries += 1) await expect(attempt()).rejects.toThrow('object store failed');
    expect(await file()).toMatchObject({ state: 'running', attempts: 4 });
    await database.query(
      `update report_file set started_at = started_at - interval '1 hour' where schedule_id = $1`,
      [id],
    );
    expect(await attempt()).toMatchObject({ written: 0 });
    expect(await file()).toMatchObject({ state: 'failed', error: 'The object store did not answer.' });
  });

  test('is still written where the attempt that overtook another one is lost', async () => {
    const { id, attempt, file } = await due(() => {
      throw new ObjectTooLarge(0);
    });
    const overtaken = await acquireDueReport(database, id);
    await acquireDueReport(database, id);
    await failReport(database, overtaken!, 'It came too late.');
    expect(await file()).toEqual({ state: 'running', error: null, attempts: 2 });
    await attempt();
    expect(await file()).toMatchObject({ state: 'failed', attempts: 3 });
  });
});
