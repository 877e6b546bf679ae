/**
 * What the sessions of each project hold. Up to ten thousand sessions are added up whenever it is asked; of more,
 * the last sum is kept with its time, and made anew behind a read when it has become old.
 */
import { limits } from '../../domain/limits.ts';
import { advisoryLocks } from '../connection/advisory-locks.ts';
import type { Database } from '../connection/database.ts';
import { withLock } from '../connection/healer-lock.ts';
import { outputBytes } from '../runs/change-session.ts';
import { countSessions } from './session-count.ts';

interface ProjectStorage {
  readonly projectId: number;
  readonly projectTitle: string;
  readonly sessions: number;
  readonly frozenSessions: number;
  readonly outputBytes: number;
  readonly newestSessionAt: Date | null;
}

export interface StorageReading {
  readonly measuredAt: Date;
  /** The largest first. */
  readonly projects: readonly ProjectStorage[];
  /** A kept sum that should be made anew. */
  readonly isOld: boolean;
}

/** Adding up more takes longer than a reader waits. */
const maxAtOnce = 10_000;
const keptSeconds = 15;
/** Adding up takes no more than this share of the database's time. */
const maxShare = 0.05;

const ofSessions = `
  count(s.id) as sessions, count(s.frozen_at) as frozen_sessions,
  coalesce(sum(${outputBytes('s')}), 0)::bigint as output_bytes, max(s.created_at) as newest_session_at`;

/**
 * @param projectId undefined for all
 * @param atOnce sessions that are added up for this read
 */
export async function projectStorage(
  database: Database,
  projectId: number | undefined,
  atOnce = maxAtOnce,
): Promise<StorageReading> {
  if ((await countSessions(database, { projectId })) <= atOnce) return await addedUp(database, projectId);
  const kept = await keptStorage(database, projectId);
  if (kept !== undefined) return kept;
  await measureStorage(database, atOnce);
  // Where another process is at it, one does not wait for its sum.
  return (await keptStorage(database, projectId)) ?? (await addedUp(database, projectId));
}

/** Keeps the sum of all projects, where there are too many sessions to add up for each read. One process at a time. */
export async function measureStorage(database: Database, atOnce = maxAtOnce): Promise<void> {
  if ((await countSessions(database, {})) <= atOnce) return;
  await withLock(database, advisoryLocks.projectStorage, async () => {
    await database.query(
      `with measured as materialized (
         select p.id, ${ofSessions} from project p left join session s on s.project_id = p.id group by p.id)
       insert into project_storage
              (project_id, sessions, frozen_sessions, output_bytes, newest_session_at, measured_at, measured_seconds)
       select m.id, m.sessions, m.frozen_sessions, m.output_bytes, m.newest_session_at, statement_timestamp(),
              extract(epoch from clock_timestamp() - statement_timestamp())
         from measured m
       on conflict (project_id) do update set (sessions, frozen_sessions, output_bytes, newest_session_at, measured_at,
                                               measured_seconds) =
         (excluded.sessions, excluded.frozen_sessions, excluded.output_bytes, excluded.newest_session_at,
          excluded.measured_at, excluded.measured_seconds)`,
    );
  });
}

async function addedUp(database: Database, projectId: number | undefined): Promise<StorageReading> {
  // A question about one project has another plan than one about all.
  const projects = await database.queryUnprepared<ProjectStorage>(
    `select p.id as project_id, p.title as project_title, ${ofSessions}
       from project p left join session s on s.project_id = p.id
      where $1::bigint is null or p.id = $1
      group by p.id order by output_bytes desc, p.id limit $2`,
    [projectId ?? null, limits.storageProjects],
  );
  return { measuredAt: new Date(), projects, isOld: false };
}

async function keptStorage(
  database: Database,
  projectId: number | undefined,
): Promise<StorageReading | undefined> {
  const [time] = await database.query<{ measuredAt: Date | null; isOld: boolean }>(
    `select max(measured_at) as measured_at,
            coalesce(max(measured_at) < clock_timestamp()
                       - make_interval(secs => greatest(${keptSeconds}, max(measured_seconds) / ${maxShare})), true) as is_old
       from project_storage`,
  );
  if (time === undefined || time.measuredAt === null) return undefined;
  const projects = await database.query<ProjectStorage>(
    `select p.id as project_id, p.title as project_title, coalesce(k.sessions, 0)::bigint as sessions,
            coalesce(k.frozen_sessions, 0)::bigint as frozen_sessions,
            coalesce(k.output_bytes, 0)::bigint as output_bytes, k.newest_session_at
       from project p left join project_storage k on k.project_id = p.id
      where $1::bigint is null or p.id = $1 order by output_bytes desc, p.id limit $2`,
    [projectId ?? null, limits.storageProjects],
  );
  return { measuredAt: time.measuredAt, isOld: time.isOld, projects };
}
