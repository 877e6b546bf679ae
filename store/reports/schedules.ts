/** Schedules of reports: what people set. Their files are written and listed by scheduled-files.ts. */
import { LockMode } from '@mikro-orm/core';
import { limits } from '../../domain/limits.ts';
import { isRefusal, sqlStates } from '../../domain/network/database-fault.ts';
import { noteAudited } from '../connection/audit-scope.ts';
import type { Database, EntityReader, Tx } from '../connection/database.ts';
import { oncePerKey } from '../connection/idempotency.ts';
import { newId } from '../connection/ids.ts';
import { definedFields } from '../entities/defined-fields.ts';
import { Project } from '../entities/project.ts';
import { ReportDefinition } from '../entities/report-definition.ts';
import { ReportSchedule } from '../entities/report-schedule.ts';
import { now } from '../entities/times.ts';

const timing = ['every', 'atMinute', 'weekday', 'monthDay', 'timeZone', 'enabled'] as const;

/** The fields that people set. */
export type ScheduleFields = Pick<
  ReportSchedule,
  (typeof timing)[number] | 'reportKey' | 'projectId' | 'format' | 'periodDays' | 'keptFiles'
>;
export type ScheduleChange = { readonly [Name in keyof ScheduleFields]?: ScheduleFields[Name] | undefined };

type Refusal = 'missing' | 'report-unknown' | 'project-unknown' | 'zone-unknown' | 'too-many';
export type ScheduleWrite =
  | { readonly outcome: 'saved'; readonly schedule: ReportSchedule }
  | { readonly outcome: Refusal };

/** Oldest first. @param projectId undefined: all */
export async function listSchedules({ em }: EntityReader, projectId?: number): Promise<ReportSchedule[]> {
  const where = projectId === undefined ? {} : { projectId };
  return em.find(ReportSchedule, where, { orderBy: { createdAt: 'asc', id: 'asc' } });
}

export async function findSchedule({ em }: EntityReader, id: string): Promise<ReportSchedule | undefined> {
  return (await em.findOne(ReportSchedule, id)) ?? undefined;
}

export async function createSchedule(
  database: Database,
  fields: ScheduleFields,
  createdBy: string,
): Promise<ScheduleWrite> {
  const work = async (tx: Tx): Promise<ScheduleWrite> => {
    // Two callers at the limit wait for each other.
    await tx.query('lock table report_schedule in share row exclusive mode');
    if ((await tx.em.count(ReportSchedule)) >= limits.reportSchedules) return { outcome: 'too-many' };
    const refusal = await refusalOf(tx, fields);
    if (refusal !== null) return { outcome: refusal };
    const id = newId();
    const schedule = tx.em.create(ReportSchedule, {
      ...fields,
      id,
      createdBy,
      nextAt: await nextOf(tx, fields),
    });
    await tx.em.flush();
    noteAudited(id);
    return { outcome: 'saved', schedule };
  };
  return database.transaction(oncePerKey(work, ({ outcome }) => outcome === 'saved')).catch(whenZoneUnknown);
}

/** Changes the given fields. A change of its times counts from now on. */
export async function updateSchedule(
  database: Database,
  id: string,
  change: ScheduleChange,
): Promise<ScheduleWrite> {
  const work = async (tx: Tx): Promise<ScheduleWrite> => {
    const schedule = await tx.em.findOne(ReportSchedule, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (schedule === null) return { outcome: 'missing' };
    const given = definedFields(change);
    if (given === null) return { outcome: 'saved', schedule };
    const refusal = await refusalOf(tx, change);
    if (refusal !== null) return { outcome: refusal };
    const isTimed = timing.some((name) => change[name] !== undefined && change[name] !== schedule[name]);
    Object.assign(schedule, given, { updatedAt: now() });
    if (isTimed) schedule.nextAt = await nextOf(tx, schedule);
    await tx.em.flush();
    return { outcome: 'saved', schedule };
  };
  return database.transaction(work).catch(whenZoneUnknown);
}

/** Makes the next file due now, also of one that is disabled. Undefined when there is no such schedule. */
export async function runScheduleNow(database: Database, id: string): Promise<ReportSchedule | undefined> {
  const work = async (tx: Tx): Promise<ReportSchedule | undefined> => {
    const { em } = tx;
    const schedule = await em.findOne(ReportSchedule, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (schedule === null) return undefined;
    const [clock] = await tx.query<{ now: Date }>('select clock_timestamp() as now');
    schedule.nextAt = clock!.now;
    await em.flush();
    return schedule;
  };
  return database.transaction(oncePerKey(work, (schedule) => schedule !== undefined));
}

/** With its files. @returns false when there is no such schedule */
export async function deleteSchedule(database: Database, id: string): Promise<boolean> {
  return database.transaction(async ({ em }) => (await em.nativeDelete(ReportSchedule, { id })) > 0);
}

async function refusalOf({ em }: Tx, { reportKey, projectId }: ScheduleChange): Promise<Refusal | null> {
  if (reportKey !== undefined && (await em.findOne(ReportDefinition, reportKey)) === null)
    return 'report-unknown';
  if (projectId !== undefined && projectId !== null && (await em.findOne(Project, projectId)) === null)
    return 'project-unknown';
  return null;
}

/** By the database, which knows the zones. */
async function nextOf(tx: Tx, schedule: Pick<ScheduleFields, (typeof timing)[number]>): Promise<Date | null> {
  const { enabled, every, atMinute, weekday, monthDay, timeZone } = schedule;
  if (!enabled) return null;
  const [row] = await tx.query<{ at: Date }>(
    'select report_next_at($1, $2, $3, $4, $5, clock_timestamp()) as at',
    [every, atMinute, weekday, monthDay, timeZone],
  );
  return row!.at;
}

/** The database's list of zones may lack one that this process knows. */
function whenZoneUnknown(error: unknown): ScheduleWrite {
  if (isRefusal(error, sqlStates.invalidParameterValue)) return { outcome: 'zone-unknown' };
  throw error;
}
