/** The files of report schedules: one for each time of a schedule, however many processes act on it. */
import type { ReportFormat } from '../../domain/reports/schedule.ts';
import type { Database, Queryable, Tx } from '../connection/database.ts';
import { newId } from '../connection/ids.ts';
import { removePendingObject } from '../objects/pending-objects.ts';

export interface DueReport {
  readonly fileId: string;
  readonly scheduleId: string;
  readonly reportKey: string;
  readonly projectId: number | null;
  readonly format: ReportFormat;
  /** The earliest time of the scenarios that count; null: any. */
  readonly from: Date | null;
  readonly dueAt: Date;
  /** With this one; a later one makes the writes of this one void. */
  readonly attempt: number;
  /** Since the first attempt. */
  readonly forSeconds: number;
}

/** The file that is due, as a row that is `running`. Undefined when none is due, or the schedule is gone. */
export async function acquireDueReport(
  database: Database,
  scheduleId: string,
): Promise<DueReport | undefined> {
  return database.transaction(async (tx) => {
    const [schedule] = await tx.query<
      Pick<DueReport, 'reportKey' | 'projectId' | 'format' | 'from' | 'dueAt'>
    >(
      // Days of the schedule's clock: the files of a weekly schedule leave out no hour when its zone changes the clock.
      `select report_key, project_id, format, next_at as due_at,
              (next_at at time zone time_zone - make_interval(days => period_days)) at time zone time_zone as "from"
         from report_schedule where id = $1 and next_at <= clock_timestamp() for no key update`,
      [scheduleId],
    );
    if (schedule === undefined) return undefined;
    // The times were changed while an attempt was lost.
    await tx.query(
      `update report_file set state = 'failed', ended_at = clock_timestamp(), error = 'It was interrupted.'
        where schedule_id = $1 and state = 'running' and due_at <> $2`,
      [scheduleId, schedule.dueAt],
    );
    const [file] = await tx.query<{ id: string; attempts: number; forSeconds: number }>(
      `insert into report_file as f (id, schedule_id, due_at) values ($1, $2, $3)
       on conflict (schedule_id, due_at) do update set attempts = f.attempts + 1
       returning f.id, f.attempts, extract(epoch from clock_timestamp() - f.started_at)::float8 as for_seconds`,
      [newId(), scheduleId, schedule.dueAt],
    );
    const { id, attempts, forSeconds } = file!;
    return { ...schedule, scheduleId, fileId: id, attempt: attempts, forSeconds };
  });
}

export interface WrittenReport {
  readonly fileName: string;
  readonly rows: number;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly dataSourceId: number;
  readonly objectKey: string;
}

/**
 * Keeps a written file, plans the next one and removes the oldest.
 * @returns false when another attempt has ended it, or the schedule is gone: then nothing is written
 */
export async function keepReport(
  database: Database,
  due: DueReport,
  written: WrittenReport,
): Promise<boolean> {
  return database.transaction(async (tx) => {
    if (!(await planNext(tx, due))) return false;
    const kept = await tx.query(
      `update report_file set state = 'ready', ended_at = clock_timestamp(), file_name = $3, row_count = $4,
              size_bytes = $5, sha256 = $6, data_source_id = $7, object_key = $8
        where id = $1 and attempts = $2 and state = 'running' returning 1`,
      [
        due.fileId,
        due.attempt,
        written.fileName,
        written.rows,
        written.sizeBytes,
        written.sha256,
        written.dataSourceId,
        written.objectKey,
      ],
    );
    if (kept.length === 0) return false;
    await removePendingObject(tx, written.objectKey);
    await removeOldest(tx, due.scheduleId, 'ready');
    return true;
  });
}

/** Records why a file could not be written, and plans the next one. */
export async function failReport(database: Database, due: DueReport, reason: string): Promise<void> {
  await database.transaction(async (tx) => {
    if (!(await planNext(tx, due))) return;
    await tx.query(
      `update report_file set state = 'failed', ended_at = clock_timestamp(), error = $3
        where id = $1 and attempts = $2 and state = 'running'`,
      [due.fileId, due.attempt, reason],
    );
    await removeOldest(tx, due.scheduleId, 'failed');
  });
}

/**
 * From now on: times that passed while nothing ran are made up for once. A time that was changed meanwhile stays.
 * @returns false when a later attempt has begun, which plans for itself, or the schedule is gone
 */
async function planNext(tx: Tx, { scheduleId, dueAt, fileId, attempt }: DueReport): Promise<boolean> {
  // Attempts begin under this lock, and the next statement sees those that began before it was acquired.
  await tx.query('select from report_schedule where id = $1 for no key update', [scheduleId]);
  const rows = await tx.query(
    `update report_schedule set next_at = case
              when next_at is distinct from $2 then next_at
              when enabled then report_next_at(every, at_minute, weekday, month_day, time_zone, clock_timestamp()) end
      where id = $1 and exists (select from report_file where id = $3 and attempts = $4) returning 1`,
    [scheduleId, dueAt, fileId, attempt],
  );
  return rows.length > 0;
}

async function removeOldest(tx: Tx, scheduleId: string, state: 'ready' | 'failed'): Promise<void> {
  await tx.query(
    `delete from report_file where id in (
       select f.id from report_file f where f.schedule_id = $1 and f.state = $2
        order by f.position desc offset (select s.kept_files from report_schedule s where s.id = $1))`,
    [scheduleId, state],
  );
}

/** Seconds until the schedule's next file is due; null when it has none. */
export async function secondsUntilReport(database: Queryable, scheduleId: string): Promise<number | null> {
  // Without a time there is no row: the greatest of nothing and 0 is 0.
  const [row] = await database.query<{ seconds: number }>(
    `select greatest(extract(epoch from next_at - clock_timestamp())::float8, 0) as seconds
       from report_schedule where id = $1 and next_at is not null`,
    [scheduleId],
  );
  return row?.seconds ?? null;
}

/** Schedules whose file was due a while ago, for the healer: each once in `againSeconds`. */
export async function acquireForgottenSchedules(
  database: Queryable,
  waits: { readonly dueSeconds: number; readonly againSeconds: number },
  limit: number,
): Promise<Array<{ scheduleId: string; lateForSeconds: number }>> {
  return database.query(
    `with late as (
       select id from report_schedule
        where next_at < statement_timestamp() - make_interval(secs => $1)
          and healed_at < clock_timestamp() - make_interval(secs => $2)
        order by next_at limit $3 for no key update skip locked)
     update report_schedule s set healed_at = clock_timestamp() from late where s.id = late.id
     returning s.id as schedule_id, extract(epoch from clock_timestamp() - s.next_at)::float8 as late_for_seconds`,
    [waits.dueSeconds, waits.againSeconds, limit],
  );
}

export interface ReportFileRow {
  readonly id: string;
  readonly position: number;
  readonly scheduleId: string;
  readonly reportKey: string;
  readonly reportName: string;
  readonly projectId: number | null;
  readonly format: ReportFormat;
  readonly state: 'running' | 'ready' | 'failed';
  readonly dueAt: Date;
  readonly endedAt: Date | null;
  readonly fileName: string | null;
  readonly rows: number | null;
  readonly sizeBytes: number | null;
  readonly sha256: string | null;
  readonly dataSourceId: number | null;
  readonly objectKey: string | null;
  readonly error: string | null;
}

const files = `select f.id, f.position, f.schedule_id, s.report_key, r.name as report_name, s.project_id, s.format, f.state,
    f.due_at, f.ended_at, f.file_name, f.row_count as rows, f.size_bytes, f.sha256, f.data_source_id, f.object_key, f.error
  from report_file f join report_schedule s on s.id = f.schedule_id join report_definition r on r.key = s.report_key`;

/** Newest first. */
export async function listReportFiles(
  database: Queryable,
  filter: {
    readonly scheduleId?: string | undefined;
    readonly projectId?: number | undefined;
    /** Only older ones. */
    readonly before?: number | undefined;
    readonly limit: number;
  },
): Promise<ReportFileRow[]> {
  return database.query(
    `${files} where ($1::uuid is null or f.schedule_id = $1) and ($2::bigint is null or s.project_id = $2)
       and ($3::bigint is null or f.position < $3) order by f.position desc limit $4`,
    [filter.scheduleId ?? null, filter.projectId ?? null, filter.before ?? null, filter.limit],
  );
}

export async function findReportFile(database: Queryable, id: string): Promise<ReportFileRow | undefined> {
  const [row] = await database.query<ReportFileRow>(`${files} where f.id = $1`, [id]);
  return row;
}
