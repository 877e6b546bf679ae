/** Runs of retention as rows: requested, acquired by one worker, and acquired again when that worker died. */
import type { Queryable } from '../connection/database.ts';

export interface RetentionRun {
  readonly id: number;
  readonly requestedAt: Date;
  /** Null: the clock. */
  readonly requestedBy: string | null;
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
  readonly sessions: number;
  readonly outputs: number;
  readonly orphans: number;
  readonly bytes: number;
  readonly error: string | null;
}

const columns = `id, requested_at, requested_by, started_at,
  ended_at, sessions, outputs, orphans, bytes, error`;

/** The last runs, newest first. */
export async function listRetentionRuns(database: Queryable, limit: number): Promise<RetentionRun[]> {
  return database.query<RetentionRun & Record<string, unknown>>(
    `select ${columns} from retention_run order by id desc limit $1`,
    [limit],
  );
}

/** Requests a run; returns the open one if there is one. */
export async function requestRetentionRun(
  database: Queryable,
  requestedBy: string | null,
): Promise<{ readonly run: RetentionRun; readonly isNew: boolean }> {
  for (;;) {
    const [made] = await database.query<RetentionRun & Record<string, unknown>>(
      `insert into retention_run (requested_by) values ($1) on conflict do nothing returning ${columns}`,
      [requestedBy],
    );
    if (made !== undefined) return { run: made, isNew: true };
    const [open] = await database.query<RetentionRun & Record<string, unknown>>(
      `select ${columns} from retention_run where ended_at is null`,
    );
    if (open !== undefined) return { run: open, isNew: false };
  }
}

/** The open run, marked started. @param everyHours makes one when the last request is this old; 0: never */
export async function acquireRetentionRun(
  database: Queryable,
  everyHours: number,
): Promise<RetentionRun | undefined> {
  const [recent] = await database.query(
    `select 1 from retention_run
      where ended_at is null or requested_at > clock_timestamp() - make_interval(hours => $1) limit 1`,
    [everyHours],
  );
  if (recent === undefined && everyHours > 0) await requestRetentionRun(database, null);
  const [run] = await database.query<RetentionRun & Record<string, unknown>>(
    `update retention_run set started_at = coalesce(started_at, clock_timestamp())
      where ended_at is null returning ${columns}`,
  );
  return run;
}

export async function endRetentionRun(database: Queryable, id: number, error: string | null): Promise<void> {
  await database.query(
    'update retention_run set ended_at = clock_timestamp(), error = $2 where id = $1 and ended_at is null',
    [id, error],
  );
}
