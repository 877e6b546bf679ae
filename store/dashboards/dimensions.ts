/** Dimensions: the dashboards of a session, one for each node instance that publishes one (decisions 11). */

import type { Database, Tx } from '../connection/database.ts';
import { newId } from '../connection/ids.ts';
import type { RunnerIdentity } from '../runners/holder.ts';
import { holdSession } from '../runs/change-session.ts';
import { renewLease } from '../runs/lease.ts';

/** One channel of a source. `key`, `<outputId>:<id>`, names it in the whole dashboard. */
export interface DimensionChannel {
  readonly key: string;
  readonly id: string;
  readonly name: string;
  readonly unit: string | null;
  readonly type: string;
  readonly group: string;
  readonly realm: string;
}

/**
 * One columnar output that a dashboard draws from. The place of its bytes and its description are not shown to callers.
 */
export interface DimensionSource {
  readonly outputId: number;
  readonly name: string;
  readonly realm: string;
  /** `from` and `to` are ISO 8601; null when they are no times. */
  readonly time: { readonly kind: string; readonly from: string | null; readonly to: string | null };
  readonly rowCount: number;
  readonly groups: readonly { readonly id: string; readonly name: string }[];
  readonly channels: readonly DimensionChannel[];
  readonly dataSourceId: number;
  readonly objectKey: string;
  readonly sha256: string | null;
  readonly description: unknown;
}

/** A suggested layout; `channels` hold channel keys. */
export interface DimensionLayout {
  readonly version: 1;
  readonly panels: { title: string; group: string; unit: string | null; channels: string[] }[];
}

export interface DimensionPublication {
  readonly name: string;
  readonly dashboardName: string;
  readonly dashboardVersion: string;
  readonly sources: readonly DimensionSource[];
  readonly layout: Record<string, unknown> | null;
  /** The session has one scenario instance of this name afterwards. */
  readonly scenario: { readonly name: string; readonly from: Date | null; readonly to: Date | null } | null;
}

/**
 * Publishes the dashboard of the node whose task is held, or brings it up to date.
 * @returns the dimension's id; undefined when the task is no longer held, and then nothing is written
 */
export async function publishDimension(
  database: Database,
  identity: RunnerIdentity,
  taskId: string,
  dimension: DimensionPublication,
): Promise<number | undefined> {
  // Under the session's lock two nodes of one session cannot make the same scenario twice.
  return holdSession(database, { taskId }, async (tx) => {
    const task = await renewLease(tx, identity, taskId);
    if (task === undefined) return undefined;
    const [row] = await tx.query<{ id: number }>(
      `insert into dimension (session_id, node_instance_id, name, dashboard_name, dashboard_version, sources, layout)
       values ($1, $2, $3, $4, $5, $6::jsonb, $7::jsonb)
       on conflict (node_instance_id) do update
          set name = excluded.name, dashboard_name = excluded.dashboard_name,
              dashboard_version = excluded.dashboard_version, sources = excluded.sources, layout = excluded.layout,
              updated_at = clock_timestamp()
       returning id`,
      [
        task.sessionId,
        task.nodeInstanceId,
        dimension.name,
        dimension.dashboardName,
        dimension.dashboardVersion,
        JSON.stringify(dimension.sources),
        dimension.layout === null ? null : JSON.stringify(dimension.layout),
      ],
    );
    if (dimension.scenario !== null) await saveScenario(tx, task.sessionId, dimension.scenario);
    return row!.id;
  });
}

/** A scenario that the session has already is only widened: its window may have been set by a person. */
async function saveScenario(
  tx: Tx,
  sessionId: string,
  { name, from, to }: NonNullable<DimensionPublication['scenario']>,
): Promise<void> {
  const known = await tx.query(
    `update scenario_instance set from_at = least(from_at, $3::timestamptz), to_at = greatest(to_at, $4::timestamptz)
      where session_id = $1 and scenario_name = $2 returning id`,
    [sessionId, name, from, to],
  );
  if (known.length > 0) return;
  await tx.query(
    'insert into scenario_instance (id, session_id, scenario_name, from_at, to_at) values ($1, $2, $3, $4, $5)',
    [newId(), sessionId, name, from, to],
  );
}

/** Outputs that were deleted leave the dashboards of their session: no channel or panel points to a missing output. */
export async function forgetSources(tx: Tx, sessionId: string, outputIds: readonly number[]): Promise<void> {
  const gone = new Set(outputIds);
  const isGone = (key: unknown) => gone.has(Number(String(key).split(':', 1)[0]));
  const dimensions = await tx.query<{
    id: number;
    sources: DimensionSource[];
    layout: DimensionLayout | null;
  }>('select id, sources, layout from dimension where session_id = $1 order by id for no key update', [
    sessionId,
  ]);
  for (const { id, sources, layout } of dimensions) {
    const kept = sources.filter((source) => !gone.has(source.outputId));
    if (kept.length === sources.length) continue;
    const panels = layout?.panels?.map((panel) => ({
      ...panel,
      channels: panel.channels.filter((key) => !isGone(key)),
    }));
    const keptLayout = panels === undefined ? layout : { ...layout, panels };
    await tx.query(
      'update dimension set sources = $2::jsonb, layout = $3::jsonb, updated_at = clock_timestamp() where id = $1',
      [id, JSON.stringify(kept), keptLayout === null ? null : JSON.stringify(keptLayout)],
    );
  }
}
