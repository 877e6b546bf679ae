/** What the holder of a task reads: its inputs within the run's upper bound, and its incremental counters. */

import type { Queryable } from '../connection/database.ts';
import type { OutputBytes } from '../outputs/outputs.ts';
import type { RunnerIdentity } from './claims.ts';

/** What decides which inputs a task has. */
export interface InputBounds {
  readonly parentIds: readonly number[];
  readonly incremental: boolean;
  readonly reason: 'input' | 'reprocess' | 'follow-up';
  /** What a reprocess of the node goes over. */
  readonly reprocess: 'latest' | 'all';
  readonly upperPosition: number;
  /** As it stood at the claim. */
  readonly claimWatermarkPosition: number;
}

/** A held task, as every call for it needs it. */
export interface HeldTask extends InputBounds {
  readonly taskId: string;
  readonly runId: string;
  readonly attempt: number;
  readonly sessionId: string;
  readonly nodeInstanceId: number;
  /** The run's own one in a reprocess, else the node's. */
  readonly watermarkPosition: number;
  readonly watermarkOutputId: number | null;
  readonly leaseExpiresAt: Date;
  readonly cancelRequested: boolean;
  readonly configuration: string;
}

export interface TaskInput extends OutputBytes {
  readonly outputId: number;
  readonly nodeInstanceId: number;
  readonly nodeName: string;
  readonly position: number;
  readonly dataSourceId: number;
  readonly metadata: Record<string, unknown> | null;
  readonly createdAt: Date;
}

/**
 * Renews the lease of a held task and returns it; undefined when the caller does not hold it (any more).
 * Every call for a task begins with this; in a transaction it is the fence of what follows.
 */
export async function touchTask(
  database: Queryable,
  identity: RunnerIdentity,
  taskId: string,
): Promise<HeldTask | undefined> {
  const [task] = await database.query<HeldTask>(
    `with claim as (
       update node_claim c
          set lease_until = clock_timestamp() + make_interval(secs => c.lease_seconds), used = true
        where c.task_id = $1 and c.holder = $2 and c.instance_id = $3 and c.ended_at is null
          and c.lease_until > clock_timestamp()
       returning c.*
     )
     select claim.task_id as "taskId", claim.run_id as "runId", claim.attempt, r.session_id as "sessionId",
            n.id as "nodeInstanceId", n.parent_ids as "parentIds", t.incremental, r.reason,
            t.reprocess, r.upper_position as "upperPosition", claim.watermark_position as "claimWatermarkPosition",
            coalesce(r.replay_position, n.watermark_position) as "watermarkPosition",
            case when r.replay_position is null then n.watermark_output_id else r.replay_output_id end
              as "watermarkOutputId", claim.lease_until as "leaseExpiresAt",
            r.cancel_requested as "cancelRequested", n.configuration
       from claim join node_run r on r.id = claim.run_id join node_instance n on n.id = r.node_instance_id
       join node_template t on t.id = n.node_template_id`,
    [taskId, identity.holder, identity.instanceId],
  );
  return task;
}

/** Heartbeat: renews the lease and keeps what the runner says of its progress. */
export async function beatTask(
  database: Queryable,
  identity: RunnerIdentity,
  taskId: string,
  progress: { phase: string | null; message: string | null; progress: Record<string, unknown> | null },
): Promise<{ leaseExpiresAt: Date; cancelRequested: boolean } | undefined> {
  const [row] = await database.query<{ leaseExpiresAt: Date; cancelRequested: boolean }>(
    `update node_claim c
        set lease_until = clock_timestamp() + make_interval(secs => c.lease_seconds), used = true,
            phase = $4, message = $5, progress = $6::jsonb
       from node_run r
      where c.task_id = $1 and c.holder = $2 and c.instance_id = $3 and c.ended_at is null
        and c.lease_until > clock_timestamp() and r.id = c.run_id
      returning c.lease_until as "leaseExpiresAt", r.cancel_requested as "cancelRequested"`,
    [
      taskId,
      identity.holder,
      identity.instanceId,
      progress.phase,
      progress.message,
      progress.progress === null ? null : JSON.stringify(progress.progress),
    ],
  );
  return row;
}

const inputColumns = `
  v.output_id as "outputId", v.node_instance_id as "nodeInstanceId", n.name as "nodeName", v.position,
  v.data_source_id as "dataSourceId", v.object_key as "objectKey", v.object_offset as "objectOffset",
  v.output_identifier as "outputIdentifier", v.content_type as "contentType", v.content_encoding as "contentEncoding",
  v.size_bytes as "sizeBytes", v.sha256, v.etag, v.metadata, v.created_at as "createdAt"`;
const withinBound = `
  v.node_instance_id = any ($1::bigint[]) and v.position <= $2
  and (v.superseded_at_position is null or v.superseded_at_position > $2)`;

export type InputMode = 'since-watermark' | 'latest' | 'all';

/**
 * A page of a task's inputs, oldest first, within the run's upper bound (decisions, section 9).
 * @param page `afterPosition`: where the page before ended, 0 at the beginning; `cap`: the largest number of inputs of
 *   all pages of `since-watermark` together
 */
export async function listInputs(
  database: Queryable,
  task: InputBounds,
  page: { mode: InputMode; afterPosition: number; limit: number; cap: number },
): Promise<TaskInput[]> {
  const bounds = [task.parentIds, task.upperPosition];
  // A reprocess is over inputs that such a node's watermark has passed already.
  const isReplay = page.mode === 'since-watermark' && task.reason === 'reprocess' && !task.incremental;
  switch (isReplay ? task.reprocess : page.mode) {
    case 'all':
      return database.query<TaskInput>(
        `select ${inputColumns} from output_version v join node_instance n on n.id = v.node_instance_id
          where ${withinBound} and v.position > $3 order by v.position limit $4`,
        [...bounds, page.afterPosition, page.limit],
      );
    case 'since-watermark':
      return database.query<TaskInput>(
        `select * from (
           select ${inputColumns} from output_version v join node_instance n on n.id = v.node_instance_id
            where ${withinBound} and v.position > $3 order by v.position limit $4) capped
          where capped.position > $5 order by capped.position limit $6`,
        [...bounds, task.claimWatermarkPosition, page.cap, page.afterPosition, page.limit],
      );
    case 'latest':
      return database.query<TaskInput>(
        `select ${inputColumns} from output_version v join node_instance n on n.id = v.node_instance_id
           join lateral (
             select x.run_id, x.position from output_version x
              where x.node_instance_id = v.node_instance_id and x.position <= $2
                and (x.superseded_at_position is null or x.superseded_at_position > $2)
              order by x.position desc limit 1) newest on true
          where ${withinBound} and v.position > $3
            and (v.position = newest.position or (newest.run_id is not null and v.run_id = newest.run_id))
          order by v.position limit $4`,
        [...bounds, page.afterPosition, page.limit],
      );
  }
}

/** One input of the task by its output id; undefined when it is none of them. */
export async function findInput(
  database: Queryable,
  task: InputBounds,
  outputId: number,
): Promise<TaskInput | undefined> {
  const [input] = await database.query<TaskInput>(
    `select ${inputColumns} from output_version v join node_instance n on n.id = v.node_instance_id
      where ${withinBound} and v.output_id = $3`,
    [task.parentIds, task.upperPosition, outputId],
  );
  return input;
}

/** What the node keeps between its runs: the state its runner stored, and its own newest published output. */
export async function readNodeMemory(
  database: Queryable,
  task: HeldTask,
): Promise<{ state: Record<string, unknown> | null; newestOutput: TaskInput | undefined }> {
  const [node] = await database.query<{
    state: Record<string, unknown> | null;
    newestOutputId: number | null;
  }>('select runner_state as state, newest_output_id as "newestOutputId" from node_instance where id = $1', [
    task.nodeInstanceId,
  ]);
  const [newestOutput] =
    node?.newestOutputId == null
      ? []
      : await database.query<TaskInput>(
          `select ${inputColumns} from output_version v join node_instance n on n.id = v.node_instance_id
            where v.output_id = $1 and v.superseded_at_position is null`,
          [node.newestOutputId],
        );
  return { state: node?.state ?? null, newestOutput };
}

/** Inputs above the watermark, within the bound. */
export async function countPendingInputs(
  database: Queryable,
  bounds: { parentIds: readonly number[]; upperPosition: number; watermarkPosition: number },
): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    `select count(*) as count from output_version v where ${withinBound} and v.position > $3`,
    [bounds.parentIds, bounds.upperPosition, bounds.watermarkPosition],
  );
  return row?.count ?? 0;
}

/** Whether any attempt of a run has written an output, or met one that stood already. */
export async function hasWrittenOutput(database: Queryable, runId: string): Promise<boolean> {
  const [run] = await database.query<{ wroteOutput: boolean }>(
    'select wrote_output as "wroteOutput" from node_run where id = $1',
    [runId],
  );
  return run?.wroteOutput ?? false;
}

/** How often the holders of a run gave it back. */
export async function countReturns(database: Queryable, runId: string): Promise<number> {
  const [run] = await database.query<{ count: number }>(
    'select release_count as count from node_run where id = $1',
    [runId],
  );
  return run?.count ?? 0;
}

/** Whether the claim stands, be its lease over or not: a lease that ran out while no server was up is prolonged. */
export async function isClaimOpen(database: Queryable, taskId: string): Promise<boolean> {
  const rows = await database.query('select 1 from node_claim where task_id = $1 and ended_at is null', [
    taskId,
  ]);
  return rows.length > 0;
}
