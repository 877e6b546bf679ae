/** Dimensions: the dashboards of a session, one for each node instance that publishes one (decisions 11). */

import { outputIdOfKey } from '../../domain/recordings/channel-key.ts';
import type { Database, Tx } from '../connection/database.ts';
import { newId } from '../connection/ids.ts';
import { jsonOrNull } from '../connection/parameters.ts';
import type { TaskHolder } from '../runners/holder.ts';
import { renewLease } from '../runners/lease.ts';
import { holdSession } from '../runs/change-session.ts';
import { addSources, type NewSource } from './dimension-sources.ts';

/** A suggested layout; `channels` hold channel keys. */
export interface DimensionLayout {
  readonly version: 1;
  readonly panels: { title: string; group: string; unit: string | null; channels: string[] }[];
}

export interface DimensionPublication {
  readonly name: string;
  readonly dashboardName: string;
  readonly dashboardVersion: string;
  /** Recordings to add; the others stay. */
  readonly sources: readonly NewSource[];
  readonly layout: Record<string, unknown> | null;
  /** The layouts that the recordings suggest come before `layout`. */
  readonly suggestsLayout: boolean;
  /** The session has one scenario instance of this name afterwards, at least over this time. */
  readonly scenario: { readonly name: string; readonly from: Date | null; readonly to: Date | null } | null;
}

/**
 * Publishes the dashboard of the node whose task is held, or brings it up to date.
 * @returns the dimension's id; undefined when the task is no longer held, and then nothing is written
 */
export async function publishDimension(
  database: Database,
  caller: TaskHolder,
  dimension: DimensionPublication,
): Promise<number | undefined> {
  // Under the session's lock two nodes of one session cannot make the same scenario twice.
  return holdSession(database, { taskId: caller.taskId }, async (tx) => {
    const task = await renewLease(tx, caller);
    if (task === undefined) return undefined;
    const [row] = await tx.query<{ id: number }>(
      `insert into dimension (session_id, node_instance_id, name, dashboard_name, dashboard_version, layout, suggests_layout)
       values ($1, $2, $3, $4, $5, $6::jsonb, $7)
       on conflict (node_instance_id) do update
          set name = excluded.name, dashboard_name = excluded.dashboard_name,
              dashboard_version = excluded.dashboard_version, layout = excluded.layout,
              suggests_layout = excluded.suggests_layout, updated_at = clock_timestamp()
       returning id`,
      [
        task.sessionId,
        task.nodeInstanceId,
        dimension.name,
        dimension.dashboardName,
        dimension.dashboardVersion,
        jsonOrNull(dimension.layout),
        dimension.suggestsLayout,
      ],
    );
    const { id } = row!;
    await addSources(tx, id, dimension.sources);
    if (dimension.scenario !== null) await saveScenario(tx, task.sessionId, id, dimension.scenario);
    return id;
  });
}

/**
 * A scenario that the session has already is only widened: its window may have been set by a person. A new one is over
 * all recordings of the dashboard.
 */
async function saveScenario(
  tx: Tx,
  sessionId: string,
  dimensionId: number,
  { name, from, to }: NonNullable<DimensionPublication['scenario']>,
): Promise<void> {
  const known = await tx.query(
    `update scenario_instance set from_at = least(from_at, $3::timestamptz), to_at = greatest(to_at, $4::timestamptz)
      where session_id = $1 and scenario_name = $2 returning id`,
    [sessionId, name, from, to],
  );
  if (known.length > 0) return;
  await tx.query(
    `insert into scenario_instance (id, session_id, scenario_name, from_at, to_at)
     select $1, $2, $3, least($4::timestamptz, min((source -> 'time' ->> 'from')::timestamptz)),
            greatest($5::timestamptz, max((source -> 'time' ->> 'to')::timestamptz))
       from dimension_source where dimension_id = $6 and source -> 'time' ->> 'kind' = 'absolute'`,
    [newId(), sessionId, name, from, to, dimensionId],
  );
}

/** Outputs that were deleted leave the dashboards of their session: no channel or panel points to a missing output. */
export async function forgetSources(tx: Tx, sessionId: string, outputIds: readonly number[]): Promise<void> {
  await tx.query(
    `delete from dimension_source s using dimension d
      where d.session_id = $1 and s.dimension_id = d.id and s.output_id = any ($2::bigint[])`,
    [sessionId, outputIds],
  );
  await forgetPanelChannels(tx, sessionId, new Set(outputIds));
}

/** Layouts that an earlier version put together name channels by their outputs. */
async function forgetPanelChannels(tx: Tx, sessionId: string, gone: ReadonlySet<number>): Promise<void> {
  const isGone = (key: unknown) => gone.has(outputIdOfKey(String(key)) ?? 0);
  const dimensions = await tx.query<{ id: number; layout: DimensionLayout }>(
    `select id, layout from dimension
      where session_id = $1 and layout is not null and not suggests_layout order by id for no key update`,
    [sessionId],
  );
  for (const { id, layout } of dimensions) {
    if (!layout.panels?.some(({ channels }) => channels.some(isGone))) continue;
    const panels = layout.panels.map((panel) => ({
      ...panel,
      channels: panel.channels.filter((key) => !isGone(key)),
    }));
    await tx.query('update dimension set layout = $2::jsonb, updated_at = clock_timestamp() where id = $1', [
      id,
      JSON.stringify({ ...layout, panels }),
    ]);
  }
}
