/** Schedules of reports. */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { exampleValues } from '../../domain/examples.ts';
import { idParameter } from '../../http/schemas.ts';
import {
  createSchedule,
  deleteSchedule,
  findSchedule,
  listSchedules,
  runScheduleNow,
  type ScheduleFields,
  type ScheduleWrite,
  updateSchedule,
} from '../../store/reports/schedules.ts';
import { reportScheduleTarget } from '../../workflows/targets.ts';
import { defineRoute } from '../route.ts';
import {
  newScheduleSchema,
  presentSchedule,
  scheduleChangeSchema,
  scheduleFields,
  scheduleListSchema,
  scheduleParams,
  scheduleSchema,
} from './schedule-schema.ts';

const tags = ['Reports'] as const;
const path = '/api/v2/dashboard/report-schedules';

const list = defineRoute({
  id: 'listReportSchedules',
  method: 'GET',
  path,
  summary: 'Lists the schedules of reports',
  description: 'Oldest first.',
  tags,
  access: access.reportRead,
  query: z.object({
    projectId: idParameter('projectId must be a positive integer.').meta({
      description: 'Only schedules of this project.',
      example: exampleValues.projectId,
    }),
  }),
  responses: { 200: { description: 'The schedules.', schema: scheduleListSchema } },
  async handler({ services, query }) {
    const found = await listSchedules(services.database, query.projectId);
    return { status: 200, body: { schedules: found.map(presentSchedule) } };
  },
});

const one = defineRoute({
  id: 'getReportSchedule',
  method: 'GET',
  path: `${path}/{id}`,
  summary: 'Returns a schedule',
  description: 'With the time of its next file.',
  tags,
  access: access.reportRead,
  params: scheduleParams,
  responses: { 200: { description: 'The schedule.', schema: scheduleSchema } },
  errors: ['reportScheduleNotFound'],
  refusals: { params: 'reportScheduleNotFound' },
  async handler({ services, params }) {
    const schedule = await findSchedule(services.database, params.id);
    if (schedule === undefined) throw new Problem('reportScheduleNotFound');
    return { status: 200, body: presentSchedule(schedule) };
  },
});

const create = defineRoute({
  id: 'createReportSchedule',
  method: 'POST',
  path,
  summary: 'Schedules a report',
  description:
    'The platform writes the report at these times and keeps the newest files. Each time has one file, also across ' +
    'restarts; times that pass while the platform is down are made up for by one file. A file that cannot be written is ' +
    'listed with the reason, and the next one is tried at its time. A file that is ready is announced to webhooks as ' +
    '`report.ready`. Kept files name people by their identifiers; a download names them.',
  tags,
  access: access.reportWrite,
  audit: { object: 'reportSchedule' },
  idempotent: 'plain',
  body: newScheduleSchema,
  responses: { 201: { description: 'The schedule.', schema: scheduleSchema } },
  errors: ['tooManyReportSchedules'],
  async handler({ services, body, principal }) {
    const given = scheduleFields(body) as ScheduleFields;
    const schedule = saved(await createSchedule(services.database, given, principal.userId));
    if (schedule.enabled) services.workflows.notify(reportScheduleTarget(schedule.id));
    return { status: 201, body: presentSchedule(schedule) };
  },
});

const update = defineRoute({
  id: 'updateReportSchedule',
  method: 'PATCH',
  path: `${path}/{id}`,
  summary: 'Updates a schedule',
  description: 'An absent field does not change. New times count from now on.',
  tags,
  access: access.reportWrite,
  audit: { object: 'reportSchedule', from: 'id' },
  params: scheduleParams,
  body: scheduleChangeSchema,
  responses: { 200: { description: 'The schedule.', schema: scheduleSchema } },
  errors: ['reportScheduleNotFound'],
  refusals: { params: 'reportScheduleNotFound' },
  async handler({ services, params, body }) {
    const schedule = saved(await updateSchedule(services.database, params.id, scheduleFields(body)));
    services.workflows.notify(reportScheduleTarget(schedule.id));
    return { status: 200, body: presentSchedule(schedule) };
  },
});

const run = defineRoute({
  id: 'runReportSchedule',
  method: 'POST',
  path: `${path}/{id}/run`,
  summary: 'Writes the next file of a schedule now',
  description: 'Also of one that is disabled. The list of files shows it as soon as it is begun.',
  tags,
  access: access.reportWrite,
  audit: { object: 'reportSchedule', from: 'id' },
  idempotent: 'plain',
  params: scheduleParams,
  responses: { 202: { description: 'The schedule.', schema: scheduleSchema } },
  errors: ['reportScheduleNotFound'],
  refusals: { params: 'reportScheduleNotFound' },
  async handler({ services, params }) {
    const schedule = await runScheduleNow(services.database, params.id);
    if (schedule === undefined) throw new Problem('reportScheduleNotFound');
    services.workflows.notify(reportScheduleTarget(schedule.id));
    return { status: 202, body: presentSchedule(schedule) };
  },
});

const remove = defineRoute({
  id: 'deleteReportSchedule',
  method: 'DELETE',
  path: `${path}/{id}`,
  summary: 'Deletes a schedule and its files',
  description: 'The report itself stays.',
  tags,
  access: access.reportWrite,
  audit: { object: 'reportSchedule', from: 'id' },
  params: scheduleParams,
  responses: { 204: { description: 'Removed.' } },
  errors: ['reportScheduleNotFound'],
  refusals: { params: 'reportScheduleNotFound' },
  async handler({ services, params }) {
    if (!(await deleteSchedule(services.database, params.id))) throw new Problem('reportScheduleNotFound');
    return { status: 204 };
  },
});

function saved(write: ScheduleWrite) {
  switch (write.outcome) {
    case 'saved':
      return write.schedule;
    case 'missing':
      throw new Problem('reportScheduleNotFound');
    case 'too-many':
      throw new Problem('tooManyReportSchedules');
    case 'report-unknown':
      throw new Problem('invalidRequest', { message: 'reportKey: there is no such report.' });
    case 'project-unknown':
      throw new Problem('invalidRequest', { message: 'projectId: there is no such project.' });
    case 'zone-unknown':
      throw new Problem('invalidRequest', { message: 'timeZone: the database knows no such time zone.' });
  }
}

export const scheduleRoutes = [list, one, create, update, run, remove];
