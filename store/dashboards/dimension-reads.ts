/** Reading dimensions: a dashboard with its session and newest scenario (contract: Dashboard support). */
import type { Queryable } from '../connection/database.ts';

export interface DimensionRow {
  readonly id: number;
  readonly name: string;
  readonly sessionId: string;
  readonly sessionName: string;
  readonly dashboardName: string;
  readonly dashboardVersion: string;
  readonly layout: unknown;
  /** The layouts that its recordings suggest come before `layout`. */
  readonly suggestsLayout: boolean;
  readonly createdAt: Date;
  /** The name of the session's newest scenario; null without one. */
  readonly scenarioName: string | null;
  readonly from: Date | null;
  readonly to: Date | null;
}

/** A dimension with its session's name and newest scenario. */
export async function findDimension(database: Queryable, id: number): Promise<DimensionRow | undefined> {
  const [row] = await database.query<DimensionRow>(
    `select d.id, d.name, d.session_id, s.name as session_name, d.dashboard_name,
            d.dashboard_version, d.layout, d.suggests_layout, d.created_at,
            i.scenario_name, i.from_at as "from", i.to_at as "to"
       from dimension d
       join session s on s.id = d.session_id
       left join lateral (
         select scenario_name, from_at, to_at from scenario_instance
          where session_id = d.session_id order by created_at desc, id desc limit 1
       ) i on true
      where d.id = $1`,
    [id],
  );
  return row;
}

/** Whether a node has published its dashboard. */
export async function hasDimension(database: Queryable, nodeInstanceId: number): Promise<boolean> {
  const found = await database.query('select 1 from dimension where node_instance_id = $1', [nodeInstanceId]);
  return found.length > 0;
}
