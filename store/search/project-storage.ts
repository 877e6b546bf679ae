/** What the sessions of each project hold. */
import { limits } from '../../domain/limits.ts';
import type { Database } from '../connection/database.ts';
import { outputBytes } from '../runs/change-session.ts';

export interface ProjectStorage {
  readonly projectId: number;
  readonly projectTitle: string;
  readonly sessions: number;
  readonly frozenSessions: number;
  readonly outputBytes: number;
  readonly newestSessionAt: Date | null;
}

/** The largest first, each as its sessions count their outputs. */
export function projectStorage(database: Database, projectId: number | undefined): Promise<ProjectStorage[]> {
  return database.query<ProjectStorage>(
    `select p.id as project_id, p.title as project_title, count(s.id) as sessions,
            count(s.frozen_at) as frozen_sessions, coalesce(sum(${outputBytes('s')}), 0)::bigint as output_bytes,
            max(s.created_at) as newest_session_at
       from project p left join session s on s.project_id = p.id
      where $1::bigint is null or p.id = $1
      group by p.id order by output_bytes desc, p.id limit $2`,
    [projectId ?? null, limits.storageProjects],
  );
}
