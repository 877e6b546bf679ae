/** What lists and the page of a session show of its work: read for the sessions of a page, never to filter. */
import { type NodeCounts, nodeCountsOf, type SessionState } from '../../domain/sessions/session-state.ts';
import type { Queryable } from '../connection/database.ts';
import { outputBytes } from '../runs/change-session.ts';
import { lastActivityOf, stateOf } from './session-state.ts';

export interface SessionOverview {
  readonly state: SessionState;
  readonly isFrozen: boolean;
  readonly priority: number;
  readonly nodeCounts: NodeCounts;
  readonly outputBytes: number;
  readonly lastActivityAt: Date;
  /** GUID of the creator. */
  readonly ownerId: string;
  /** Paths into the metadata. */
  readonly pinnedPaths: readonly string[];
  /** The newest dashboard. */
  readonly dimensionId: number | null;
}

export interface OverviewRow extends Omit<SessionOverview, 'nodeCounts'> {
  readonly storedCounts: Readonly<Record<string, number>>;
}

/** The select list over a session `s` and its project `p`. */
export const overviewColumns = `
  ${stateOf('s.id')} as state, s.frozen_at is not null as is_frozen, s.priority, ${outputBytes('s')} as output_bytes,
  ${lastActivityOf('s.id')} as last_activity_at, s.user_id as owner_id, p.pinned_metadata as pinned_paths,
  (select max(d.id) from dimension d where d.session_id = s.id) as dimension_id,
  coalesce((
    select jsonb_object_agg(x.code, x.nodes) from (
      select case when r.id is null then n.state::text else 'held' end as code, count(*) as nodes
        from node_instance n
        left join node_run r on r.node_instance_id = n.id and r.state <> 'done' and r.state = 'held'
       where n.session_id = s.id group by 1) x), '{}') as stored_counts`;

export function overviewOf({ storedCounts, ...row }: OverviewRow): SessionOverview {
  return { ...row, nodeCounts: nodeCountsOf(storedCounts) };
}

/** Undefined when there is no such session. */
export async function sessionOverview(
  database: Queryable,
  sessionId: string,
): Promise<SessionOverview | undefined> {
  const [row] = await database.query<OverviewRow>(
    `select ${overviewColumns} from session s join project p on p.id = s.project_id where s.id = $1`,
    [sessionId],
  );
  return row && overviewOf(row);
}
