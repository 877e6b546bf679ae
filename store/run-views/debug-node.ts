/** The next task of a node, computed without a write (decisions 9: debug routes). */

import type { NodeFacts, RunReason, RunState } from '../../domain/runs/run-plan.ts';
import { reasonToRun } from '../../domain/runs/run-plan.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import type { Queryable } from '../connection/database.ts';
import type { InputBounds } from '../runners/lease.ts';
import { runConfiguration } from '../runs/configuration-check.ts';
import { nodeFacts } from '../runs/plan-session.ts';
import { reprocessStart } from '../runs/reprocess.ts';

export interface DebugNode extends Omit<InputBounds, 'reason'> {
  /** Why the open run, or the one that is due, runs; null when there is none. */
  readonly reason: RunReason | null;
  readonly projectId: number;
  readonly sessionId: string;
  readonly sessionName: string;
  readonly isFrozen: boolean;
  readonly nodeInstanceId: number;
  readonly nodeName: string;
  readonly nodeTemplate: string;
  readonly runnerType: string;
  readonly maxAttempts: number;
  /** Json-string, as stored. */
  readonly configuration: string;
  readonly parents: ReadonlyArray<{ nodeInstanceId: number; name: string; newestPosition: number }>;
  readonly storedState: number;
  readonly run: {
    readonly id: string;
    readonly state: Exclude<RunState, 'done'>;
    readonly attempt: number;
    readonly dueAt: string | null;
  } | null;
  readonly watermarkPosition: number;
  readonly watermarkOutputId: number | null;
  readonly plan: NodeFacts;
}

interface Row extends Omit<DebugNode, 'run' | 'plan'> {
  readonly runId: string | null;
  readonly runState: Exclude<RunState, 'done'> | null;
  readonly attempt: number | null;
  readonly dueAt: Date | null;
}

/** The bounds of an open run are its own; without one they are those of a run claimed now. */
const debugNode = `
  with pick as materialized (
    select r.id from node_run r where r.node_instance_id = $1 and r.state <> 'done'
  ), replay as materialized (${reprocessStart})
  select n.id as node_instance_id, n.name as node_name, ${runConfiguration('r')} as configuration, n.parent_ids,
         n.state as stored_state, s.id as session_id, s.name as session_name, s.project_id,
         s.frozen_at is not null as is_frozen, t.name as node_template, t.runner_type,
         t.incremental, t.reprocess, coalesce(r.max_attempts, t.max_attempts) as max_attempts,
         coalesce((select json_agg(json_build_object('nodeInstanceId', p.id, 'name', p.name,
                                                     'newestPosition', p.newest_position) order by p.ordinal)
                     from node_instance p where p.id = any (n.parent_ids)), '[]') as parents,
         r.id as run_id, r.state as run_state, r.attempt, r.due_at, r.reason,
         coalesce(r.upper_position, (
           select max(p.newest_position) from node_instance p where p.id = any (n.parent_ids)), 0) as upper_position,
         case when r.id is null then n.follow_up_input_ids else r.input_ids end as input_ids,
         watermark.position as watermark_position, watermark.position as claim_watermark_position,
         watermark.output_id as watermark_output_id
    from node_instance n join node_template t on t.id = n.node_template_id join session s on s.id = n.session_id
    left join node_run r on r.id = (select id from pick)
    left join replay on true
    cross join lateral (
      select n.watermark_position as position, n.watermark_output_id as output_id
       where coalesce(r.reprocess_position, replay.position) is null
         and (r.id is not null or n.follow_up_reprocess_position is null)
      union all
      select r.reprocess_position, r.reprocess_output_id where r.reprocess_position is not null
      union all
      select replay.position, replay.output_id where r.reprocess_position is null and replay.position is not null
      union all
      select n.follow_up_reprocess_position, n.follow_up_reprocess_output_id
       where r.id is null and n.follow_up_reprocess_position is not null) watermark
   where n.id = $1`;

/** A node by its id; undefined when there is none. */
export async function findDebugNode(
  database: Queryable,
  nodeInstanceId: number,
): Promise<DebugNode | undefined> {
  const [[row], [plan]] = await Promise.all([
    database.query<Row>(debugNode, [nodeInstanceId]),
    database.query<NodeFacts>(`${nodeFacts} where n.id = $1`, [nodeInstanceId]),
  ]);
  if (row === undefined || plan === undefined) return undefined;
  const { runId, runState, attempt, dueAt, ...node } = row;
  const run =
    runId === null || runState === null
      ? null
      : { id: runId, state: runState, attempt: attempt ?? 1, dueAt: dueAt && formatTimestamp(dueAt) };
  const reason = node.reason ?? reasonToRun({ ...plan, hasOpenRun: false }) ?? null;
  return { ...node, run, plan, reason };
}
