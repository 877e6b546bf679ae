/** Reports that the platform writes by itself: their times, files, announcement and faults. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { acquireDueReport, secondsUntilReport } from '../../../store/reports/scheduled-files.ts';
import { reportScheduleWorkflowId } from '../../../workflows/contract.ts';
import { ask } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { testProcesses } from '../../support/processes.ts';
import { testWorkflows } from '../../support/workflows.ts';
import { type Receiver, startReceiver } from '../webhooks/receiver.ts';
import { reportWorld } from './report-world.ts';

const { platform, api, people, database, as, column, report, dimension } = await reportWorld();
const environment = { ...platform.environment, WEBHOOK_ALLOWLIST: '127.0.0.0/8' };
const temporal = await testWorkflows(environment);
const processes = testProcesses(environment);
const path = '/api/v2/dashboard/report-schedules';
const files = '/api/v2/dashboard/report-files';
const call = (method: string, at: string, json?: unknown, token = people.Developer.token) =>
  ask(api.url, method, at, { token, json });

let worker: Awaited<ReturnType<typeof processes.startWorker>>;
let receiver: Receiver;
beforeAll(async () => {
  await temporal.startWorker('workflows');
  worker = await processes.startWorker('builtin');
  receiver = await startReceiver();
});
afterAll(() => receiver?.stop());

async function newReport(more: object = {}): Promise<string> {
  const { body } = await as('Developer', 'POST', '', report(more));
  return body.key;
}

async function newSchedule(more: object = {}): Promise<string> {
  const json = { reportKey: await newReport(), every: 'day', ...more };
  const { status, body } = await call('POST', path, json);
  expect([status, body.message]).toEqual([201, undefined]);
  return body.id;
}

type File = { id: string; state: string; error: string | null; rows: number; dueAt: string };
const filesOf = async (id: string): Promise<File[]> =>
  (await call('GET', `${files}?scheduleId=${id}`)).body.files;
const ready = (id: string, count: number) =>
  eventually(`${count} files`, async () => {
    const found = await filesOf(id);
    return found.filter(({ state }) => state === 'ready').length === count && found;
  });
const workflowOf = (id: string) =>
  temporal.operator.workflow.getHandle(reportScheduleWorkflowId(id)).describe();
const dueNow = (id: string) =>
  database.query('update report_schedule set next_at = clock_timestamp() where id = $1', [id]);

describe('a schedule', () => {
  test('writes the report at its time, keeps it, and announces it with a link that opens it', async () => {
    const hook = await call('POST', '/api/v2/admin/webhooks', {
      url: receiver.url,
      events: ['report.ready'],
    });
    receiver.secret = hook.body.secret;
    const name = `scheduled-${randomUUID().slice(0, 8)}`;
    const { projectId } = await dimension(name, { members: [people.Trainee.userId] });
    await dimension(`${name}-elsewhere`);
    const reportKey = await newReport({
      name: 'Weekly',
      fileName: 'Weekly',
      dimensionNameFilter: name,
      columns: [column('title', 'title'), column('who', 'user.name'), column('email', 'user.email')],
    });
    const id = await newSchedule({ reportKey, projectId, format: 'csv', timeZone: 'Europe/Berlin' });
    await dueNow(id);
    const [file] = await ready(id, 1);
    expect(file).toMatchObject({ reportName: 'Weekly', projectId, format: 'csv', rows: 1, error: null });
    const { status, body } = await call(
      'GET',
      `${files}/${file!.id}/data`,
      undefined,
      people.Instructor.token,
    );
    // Whoever may read the file is not known when it is written, so it holds identifiers and no address.
    const { userId } = people.Trainee;
    expect([status, String(body).trim()]).toEqual([200, `title,who,email\r\n${name},${userId},`]);
    await eventually('it is announced', () => receiver.received.length > 0);
    expect(receiver.received.map(({ type, isGenuine, data }) => ({ type, isGenuine, data }))).toEqual([
      {
        type: 'report.ready',
        isGenuine: true,
        data: {
          reportFileId: file!.id,
          scheduleId: id,
          reportKey,
          reportName: 'Weekly',
          projectId,
          fileName: expect.stringMatching(/^Weekly_\d{8}_\d\d\.\d\d\.csv$/),
          rows: 1,
          sizeBytes: expect.any(Number),
          dueAt: file!.dueAt,
          dataUrl: `${files}/${file!.id}/data`,
        },
      },
    ]);
    expect((await call('GET', `${path}/${id}`)).body.nextAt > file!.dueAt).toBe(true);
  });

  test('has each time once, also when it is woken often, and while its worker is killed and started again', async () => {
    const id = await newSchedule({ format: 'xlsx' });
    await worker.kill('SIGKILL');
    await call('POST', `${path}/${id}/run`);
    for (let again = 0; again < 5; again += 1) await call('PATCH', `${path}/${id}`, { keptFiles: 3 + again });
    await temporal.operator.workflow
      .getHandle(reportScheduleWorkflowId(id))
      .terminate('lost')
      .catch(() => undefined);
    worker = await processes.startWorker('builtin');
    await ready(id, 1);
    await call('PATCH', `${path}/${id}`, { keptFiles: 5 });
    const { nextAt } = (await call('GET', `${path}/${id}`)).body;
    expect(Date.parse(nextAt)).toBeGreaterThan(Date.now());
    expect(await filesOf(id)).toHaveLength(1);
  });

  test('keeps the newest files, queues the bytes of the others for deletion, and takes all along when it is deleted', async () => {
    const id = await newSchedule({ keptFiles: 2 });
    const seen = new Set<string>();
    for (let made = 1; made <= 3; made += 1) {
      await call('POST', `${path}/${id}/run`);
      const newest = await eventually('a new file', async () => {
        const [file] = await filesOf(id);
        return file !== undefined && file.state === 'ready' && !seen.has(file.id) && file;
      });
      seen.add(newest.id);
    }
    const kept = await filesOf(id);
    expect(kept.map((file) => file.id)).toEqual([...seen].slice(1).toReversed());
    const [{ objectKey } = { objectKey: '' }] = await database.query<{ objectKey: string }>(
      'select object_key from report_file where id = $1',
      [kept[0]!.id],
    );
    expect((await call('DELETE', `${path}/${id}`)).status).toBe(204);
    expect((await call('GET', `${files}/${kept[0]!.id}/data`)).status).toBe(404);
    const queued = 'select 1 from object_deletion where object_key = $1';
    expect(await database.query(queued, [objectKey])).toHaveLength(1);
    expect((await call('DELETE', `${path}/${id}`)).status).toBe(404);
  });

  test('that fails says why, and the next one runs', async () => {
    const id = await newSchedule();
    await database.query('alter table dimension rename to dimension_gone');
    try {
      await call('POST', `${path}/${id}/run`);
      const failed = await eventually('it has failed', async () => {
        const [file] = await filesOf(id);
        return file?.state === 'failed' && file;
      });
      expect(failed.error).toMatch(/^The rows could not be read/);
    } finally {
      await database.query('alter table dimension_gone rename to dimension');
    }
    expect((await call('GET', `${path}/${id}`)).body.nextAt).not.toBeNull();
    await call('POST', `${path}/${id}/run`);
    await ready(id, 1);
    expect((await filesOf(id)).map(({ state }) => state)).toEqual(['ready', 'failed']);
  });

  test('that is disabled writes nothing until it is run or enabled', async () => {
    const id = await newSchedule({ enabled: false });
    expect((await call('GET', `${path}/${id}`)).body.nextAt).toBeNull();
    await call('POST', `${path}/${id}/run`);
    await ready(id, 1);
    expect((await call('GET', `${path}/${id}`)).body.nextAt).toBeNull();
    expect(await secondsUntilReport(database, id)).toBeNull();
    await eventually(
      'its workflow has ended',
      async () => (await workflowOf(id)).status.name === 'COMPLETED',
    );
    const { body } = await call('PATCH', `${path}/${id}`, { enabled: true });
    expect(Date.parse(body.nextAt)).toBeGreaterThan(Date.now());
  });
});

describe('the times of a schedule', () => {
  const next = async (every: string, at: string, zone: string, after: string, weekday = 1, day = 1) => {
    const [hours = 0, minutes = 0] = at.split(':').map(Number);
    const [row] = await database.query<{ at: Date }>(
      'select report_next_at($1, $2, $3, $4, $5, $6::timestamptz) as at',
      [every, hours * 60 + minutes, weekday, day, zone, after],
    );
    return row!.at.toISOString();
  };

  test.each<[string, string, string, string, string, number?, number?]>([
    ['day', '06:30', 'UTC', '2026-03-01T06:30:00Z', '2026-03-02T06:30:00.000Z'],
    ['day', '06:30', 'UTC', '2026-03-01T06:29:59Z', '2026-03-01T06:30:00.000Z'],
    // Summer time begins on 29 March: the clock stays, the moment moves.
    ['day', '06:30', 'Europe/Berlin', '2026-03-28T12:00:00Z', '2026-03-29T04:30:00.000Z'],
    ['day', '06:30', 'Europe/Berlin', '2026-03-27T12:00:00Z', '2026-03-28T05:30:00.000Z'],
    // 02:30 does not exist on that day.
    ['day', '02:30', 'Europe/Berlin', '2026-03-28T12:00:00Z', '2026-03-29T01:30:00.000Z'],
    // It exists twice on 25 October.
    ['day', '02:30', 'Europe/Berlin', '2026-10-24T12:00:00Z', '2026-10-25T01:30:00.000Z'],
    ['day', '02:30', 'Europe/Berlin', '2026-10-25T01:30:00Z', '2026-10-26T01:30:00.000Z'],
    ['hour', '00:05', 'UTC', '2026-03-01T10:05:20Z', '2026-03-01T11:05:00.000Z'],
    ['hour', '00:05', 'UTC', '2026-03-01T10:04:20Z', '2026-03-01T10:05:00.000Z'],
    ['hour', '23:00', 'Asia/Kolkata', '2026-03-01T10:05:20Z', '2026-03-01T10:30:00.000Z'],
    ['week', '06:00', 'UTC', '2026-03-02T06:00:00Z', '2026-03-09T06:00:00.000Z', 1],
    ['week', '06:00', 'Pacific/Auckland', '2026-03-02T06:00:00Z', '2026-03-07T17:00:00.000Z', 7],
    ['month', '06:00', 'UTC', '2026-01-31T06:00:00Z', '2026-02-28T06:00:00.000Z', 1, 31],
    ['month', '06:00', 'UTC', '2026-12-31T06:00:00Z', '2027-01-15T06:00:00.000Z', 1, 15],
  ])('%s at %s in %s after %s is %s', async (every, at, zone, after, expected, weekday, day) => {
    expect(await next(every, at, zone, after, weekday, day)).toBe(expected);
  });
});

test.each([
  ['begins', '2026-03-30T04:00:00Z', '2026-03-23T05:00:00.000Z'],
  ['ends', '2026-10-26T05:00:00Z', '2026-10-19T04:00:00.000Z'],
])('the weeks of a schedule follow one another also where summer time %s', async (_, due, from) => {
  const id = await newSchedule({ every: 'week', timeZone: 'Europe/Berlin', periodDays: 7, enabled: false });
  await database.query('update report_schedule set next_at = $2 where id = $1', [id, due]);
  expect((await acquireDueReport(database, id))?.from?.toISOString()).toBe(from);
});

describe('what people set', () => {
  test('is checked, and changed field by field', async () => {
    const reportKey = await newReport();
    for (const [wrong, message] of [
      [{ reportKey: 'absent' }, /reportKey/],
      [{ projectId: 999_999 }, /projectId/],
      [{ timeZone: 'Mars/Olympus' }, /timeZone/],
      [{ timeZone: '+02:00' }, /timeZone/],
      [{ at: '24:00' }, /at must be/],
      [{ every: 'year' }, /every/],
      [{ weekday: 'someday' }, /weekday/],
      [{ dayOfMonth: 0 }, /dayOfMonth/],
      [{ keptFiles: 1_000 }, /keptFiles/],
      [{ periodDays: 0 }, /periodDays/],
    ] as const) {
      const { status, body } = await call('POST', path, { reportKey, every: 'week', ...wrong });
      expect([status, body.message], JSON.stringify(wrong)).toEqual([400, expect.stringMatching(message)]);
    }
    const id = await newSchedule({ reportKey, every: 'week', weekday: 'friday', at: '18:15', dayOfMonth: 9 });
    const { body } = await call('PATCH', `${path}/${id}`, { every: 'month', timeZone: 'America/New_York' });
    expect(body).toMatchObject({
      every: 'month',
      at: '18:15',
      weekday: 'friday',
      dayOfMonth: 9,
      timeZone: 'America/New_York',
      projectId: null,
      keptFiles: 10,
    });
    expect((await call('PATCH', `${path}/${id}`, { reportKey: 'absent' })).status).toBe(400);
    const stored = (await call('GET', `${path}/${id}`)).body;
    expect((await call('PATCH', `${path}/${id}`, { unknown: 1 })).body).toEqual(stored);
    expect((await call('PATCH', `${path}/${randomUUID()}`, {})).status).toBe(404);
    expect((await call('GET', path)).body.schedules.map((one: { id: string }) => one.id)).toContain(id);
  });

  test('is read by Instructors and written by Developers and Administrators', async () => {
    const id = await newSchedule();
    for (const [method, at] of [
      ['GET', path],
      ['GET', `${path}/${id}`],
      ['GET', files],
    ] as const) {
      expect((await call(method, at, undefined, people.Instructor.token)).status, at).toBe(200);
      expect((await call(method, at, undefined, people.Trainee.token)).status, at).toBe(401);
    }
    for (const [method, at] of [
      ['PATCH', `${path}/${id}`],
      ['POST', `${path}/${id}/run`],
      ['DELETE', `${path}/${id}`],
    ] as const)
      expect((await call(method, at, {}, people.Instructor.token)).status, at).toBe(401);
  });
});

test('files are listed page by page, newest first', async () => {
  const id = await newSchedule();
  for (const day of [1, 2, 3])
    await database.query(
      `insert into report_file (id, schedule_id, due_at, state, ended_at, error)
       values ($1, $2, $3, 'failed', clock_timestamp(), 'No.')`,
      [randomUUID(), id, `2026-03-0${day}T00:00:00Z`],
    );
  const first = (await call('GET', `${files}?scheduleId=${id}&limit=2`)).body;
  const rest = (await call('GET', `${files}?scheduleId=${id}&limit=2&before=${first.next}`)).body;
  expect([...first.files, ...rest.files].map(({ dueAt }: File) => dueAt.slice(0, 10))).toEqual([
    '2026-03-03',
    '2026-03-02',
    '2026-03-01',
  ]);
  expect(rest.next).toBeNull();
  expect((await call('GET', `${files}/${first.files[0].id}/data`)).status).toBe(404);
});
