import { defineEntity, p } from '@mikro-orm/core';
import type { ReportFormat, ScheduleInterval } from '../../domain/reports/schedule.ts';
import { times } from './times.ts';

/** A report that is written by itself, at the times of a clock. */
const ReportScheduleSchema = defineEntity({
  name: 'ReportSchedule',
  tableName: 'report_schedule',
  properties: {
    id: p.uuid().primary(),
    reportKey: p.text(),
    /** Null: sessions of every project. */
    projectId: p.bigint('number').strictNullable(),
    format: p.text().$type<ReportFormat>(),
    every: p.text().$type<ScheduleInterval>(),
    /** Since midnight. */
    atMinute: p.integer(),
    /** From 1, Monday. */
    weekday: p.integer(),
    monthDay: p.integer(),
    timeZone: p.text(),
    periodDays: p.integer().strictNullable(),
    keptFiles: p.integer(),
    enabled: p.boolean(),
    /** Written by statements alone. */
    nextAt: p.datetime().strictNullable(),
    createdBy: p.uuid(),
    ...times,
  },
});
export class ReportSchedule extends ReportScheduleSchema.class {}
ReportScheduleSchema.setClass(ReportSchedule);
