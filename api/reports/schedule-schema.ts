/** Wire forms of report schedules and of the files that they keep. */
import { z } from 'zod';
import { exampleValues } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import {
  isTimeZone,
  minuteOf,
  reportFormats,
  scheduleIntervals,
  timeOf,
  weekdays,
} from '../../domain/reports/schedule.ts';
import { formatTimestamp, formatTimestampOrNull } from '../../domain/timestamp.ts';
import { bodyId, idParameter, integerParameter, timestampOut, uuid } from '../../http/schemas.ts';
import type { ReportSchedule } from '../../store/entities/report-schedule.ts';
import type { ReportFileRow } from '../../store/reports/scheduled-files.ts';
import type { ScheduleChange } from '../../store/reports/schedules.ts';

const exampleId = '0198ee21-7d40-7c1a-9e55-2f6b8c0d3a72';
const exampleFile = '0198ee2c-11f0-7d3e-8a41-90c1d2e3f405';

export const scheduleParams = z.object({
  id: uuid().meta({ description: 'The schedule.', example: exampleId }),
});
export const fileParams = z.object({
  id: uuid().meta({ description: 'The file.', example: exampleFile }),
});

const whole = (name: string, least: number, most: number) =>
  z
    .int({ error: `${name} must be a whole number.` })
    .min(least, { error: `${name} must be ${least} to ${most}.` })
    .max(most, { error: `${name} must be ${least} to ${most}.` });

const fields = {
  reportKey: z
    .string({ error: 'reportKey must be the key of a report.' })
    .min(1, { error: 'reportKey must be the key of a report.' })
    .max(64, { error: 'reportKey must be the key of a report.' }),
  projectId: bodyId('projectId must be an id or null.')
    .nullable()
    .meta({ description: 'Only sessions of this project; null: of every project.' }),
  format: z.enum(reportFormats, { error: 'format must be xlsx or csv.' }),
  every: z.enum(scheduleIntervals, { error: `every must be one of ${scheduleIntervals.join(', ')}.` }),
  at: z
    .string({ error: 'at must be a time such as 06:30.' })
    .regex(/^([01]\d|2[0-3]):[0-5]\d$/, { error: 'at must be a time such as 06:30.' })
    .meta({ description: 'Time of day in the time zone; of an hourly schedule only the minutes count.' }),
  weekday: z
    .enum(weekdays, { error: `weekday must be one of ${weekdays.join(', ')}.` })
    .meta({ description: 'The day of a weekly schedule.' }),
  dayOfMonth: whole('dayOfMonth', 1, 31).meta({
    description: 'The day of a monthly schedule; in a shorter month the last day.',
  }),
  timeZone: z
    .string({ error: 'timeZone must be a name such as Europe/Berlin or UTC.' })
    .max(64, { error: 'timeZone must be a name such as Europe/Berlin or UTC.' })
    .refine(isTimeZone, { error: 'timeZone must be a name such as Europe/Berlin or UTC.' })
    .meta({ description: 'Whose clock counts, with its summer time.' }),
  periodDays: whole('periodDays', 1, limits.reportPeriodDays)
    .nullable()
    .meta({ description: 'Only rows of the last days, as `from` of a download; null: all.' }),
  keptFiles: whole('keptFiles', 1, limits.reportFilesKept).meta({
    description: 'How many files are kept: the newest ones.',
  }),
  enabled: z
    .boolean({ error: 'enabled must be true or false.' })
    .meta({ description: 'False: nothing is written. The files stay.' }),
};

const requestExample = {
  reportKey: 'session-list',
  projectId: exampleValues.projectId,
  format: 'xlsx',
  every: 'week',
  at: '06:30',
  weekday: 'monday',
  dayOfMonth: 1,
  timeZone: 'Europe/Berlin',
  periodDays: 7,
  keptFiles: limits.reportFilesKeptDefault,
  enabled: true,
} as const;

export const newScheduleSchema = z
  .object({
    ...fields,
    projectId: fields.projectId.default(null),
    format: fields.format.default('xlsx'),
    at: fields.at.default('06:00'),
    weekday: fields.weekday.default('monday'),
    dayOfMonth: fields.dayOfMonth.default(1),
    timeZone: fields.timeZone.default('UTC'),
    periodDays: fields.periodDays.default(null),
    keptFiles: fields.keptFiles.default(limits.reportFilesKeptDefault),
    enabled: fields.enabled.default(true),
  })
  .meta({ id: 'NewReportSchedule', example: requestExample });

export const scheduleChangeSchema = z
  .object(fields)
  .partial()
  .meta({ id: 'ReportScheduleChange', example: { every: 'day', at: '05:00' } });

const scheduleExample = {
  ...requestExample,
  id: exampleId,
  nextAt: '2026-11-30T05:30:00.000Z',
  createdBy: exampleValues.userId,
  createdAt: '2026-11-20T09:30:00.000Z',
  updatedAt: '2026-11-20T09:30:00.000Z',
};

export const scheduleSchema = z
  .object({
    ...fields,
    id: z.guid(),
    nextAt: timestampOut().nullable().meta({ description: 'Null: it is disabled.' }),
    createdBy: z.string().meta({ description: 'Id of the account.' }),
    createdAt: timestampOut(),
    updatedAt: timestampOut(),
  })
  .meta({ id: 'ReportSchedule', example: scheduleExample });

export const scheduleListSchema = z
  .object({ schedules: z.array(scheduleSchema) })
  .meta({ id: 'ReportScheduleList', example: { schedules: [scheduleExample] } });

const states = ['running', 'ready', 'failed'] as const;

export const fileQuerySchema = z.object({
  scheduleId: uuid().optional().meta({ description: 'Only files of this schedule.', example: exampleId }),
  projectId: idParameter('projectId must be a positive integer.').meta({
    description: 'Only files of this project.',
    example: exampleValues.projectId,
  }),
  before: idParameter().optional().meta({ description: '`next` of the page before.', example: 120 }),
  limit: integerParameter({
    min: 1,
    max: limits.reportFilesPageMax,
    initial: limits.reportFilesPageDefault,
  }).meta({ description: 'Files of a page.' }),
});

export const fileSchema = z
  .object({
    id: z.guid(),
    scheduleId: z.guid(),
    reportKey: z.string(),
    reportName: z.string(),
    projectId: z.int().nullable(),
    format: z.enum(reportFormats),
    state: z.enum(states),
    dueAt: timestampOut().meta({ description: 'The time of the schedule.' }),
    endedAt: timestampOut().nullable(),
    fileName: z.string().nullable(),
    rows: z.int().nullable(),
    sizeBytes: z.int().nullable(),
    sha256: z.string().nullable(),
    error: z.string().nullable().meta({ description: 'Why it failed.' }),
  })
  .meta({
    id: 'ReportFile',
    example: {
      id: exampleFile,
      scheduleId: exampleId,
      reportKey: 'session-list',
      reportName: 'Session list',
      projectId: exampleValues.projectId,
      format: 'xlsx',
      state: 'ready',
      dueAt: '2026-11-23T05:30:00.000Z',
      endedAt: '2026-11-23T05:30:02.120Z',
      fileName: 'SessionList_23112026_05.30.xlsx',
      rows: 412,
      sizeBytes: 28_114,
      sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      error: null,
    },
  });

export const fileListSchema = z
  .object({
    files: z.array(fileSchema),
    next: z.int().nullable().meta({ description: '`before` of the next page; null on the last one.' }),
  })
  .meta({ id: 'ReportFileList' });

type GivenFields = z.output<typeof scheduleChangeSchema>;

/** The stored form of what is given; what is absent stays undefined. */
export function scheduleFields({ at, weekday, dayOfMonth, ...same }: GivenFields): ScheduleChange {
  return {
    ...same,
    ...(at === undefined ? {} : { atMinute: minuteOf(at) }),
    ...(weekday === undefined ? {} : { weekday: weekdays.indexOf(weekday) + 1 }),
    ...(dayOfMonth === undefined ? {} : { monthDay: dayOfMonth }),
  };
}

export function presentSchedule(row: ReportSchedule): z.input<typeof scheduleSchema> {
  const { id, reportKey, projectId, format, every, timeZone, periodDays, keptFiles, enabled, createdBy } =
    row;
  return {
    ...{ id, reportKey, projectId, format, every, timeZone, periodDays, keptFiles, enabled, createdBy },
    at: timeOf(row.atMinute),
    weekday: weekdays[row.weekday - 1]!,
    dayOfMonth: row.monthDay,
    nextAt: formatTimestampOrNull(row.nextAt),
    createdAt: formatTimestamp(row.createdAt),
    updatedAt: formatTimestamp(row.updatedAt),
  };
}

export function presentFile(row: ReportFileRow): z.input<typeof fileSchema> {
  const { position: _position, dataSourceId: _source, objectKey: _key, dueAt, endedAt, ...same } = row;
  return {
    ...same,
    dueAt: formatTimestamp(dueAt),
    endedAt: formatTimestampOrNull(endedAt),
  };
}
