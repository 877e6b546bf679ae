/** The reads of a task's holder: its inputs within the run's upper bound, and its incremental counters. */

import type { Queryable } from '../connection/database.ts';
import type { OutputBytes } from '../outputs/outputs.ts';
import type { InputBounds } from '../runners/lease.ts';

export interface TaskInput extends OutputBytes {
  readonly outputId: number;
  readonly nodeInstanceId: number;
  readonly nodeName: string;
  readonly position: number;
  readonly dataSourceId: number;
  readonly metadata: Record<string, unknown> | null;
  readonly createdAt: Date;
}

const inputColumns = `
  v.output_id, v.node_instance_id, n.name as node_name, v.position,
  v.data_source_id, v.object_key, v.object_offset,
  v.output_identifier, v.content_type, v.content_encoding,
  v.size_bytes, v.sha256, v.etag, v.metadata, v.created_at`;

/** `$1` parents, `$2` upper bound, `$3` the chosen inputs. */
const withinBound = ({ inputIds }: Pick<InputBounds, 'inputIds'>) => `
  v.node_instance_id = any ($1::bigint[]) and v.position <= $2
  and (v.superseded_at_position is null or v.superseded_at_position > $2)
  and ${inputIds === null ? '$3::bigint[] is null' : 'v.output_id = any ($3::bigint[])'}`;

/**
 * SQL: an output is an input of a run, between two positions. No "exists", which may be answered by reading all outputs
 * there are.
 * @param bounds SQL expressions; `run` is an alias with `upper_position` and `input_ids`
 */
export const isConsumed = (output: string, bounds: { run: string; above: string; upTo: string }) => `
  (select true from output_version v
    where v.output_id = ${output} and v.position > ${bounds.above} and v.position <= ${bounds.upTo}
      and (v.superseded_at_position is null or v.superseded_at_position > ${bounds.run}.upper_position)
      and (${bounds.run}.input_ids is null or v.output_id = any (${bounds.run}.input_ids)) limit 1)`;

/**
 * SQL: the step `newest`, the last output of each parent within the bound. Each table is read by its index: from the view
 * PostgreSQL would sort all outputs of the parent. The database's `reprocess_start` has this and
 * {@link ofLastPublication} too.
 */
const newestOfParents = `
  newest as materialized (
    select p.id as node_instance_id, last.*
      from unnest($1::bigint[]) as p (id) cross join lateral (
        (select o.run_id, o.position, o.created_at from node_output o
          where o.node_instance_id = p.id and o.position <= $2 order by o.position desc limit 1)
        union all
        (select s.run_id, s.position, s.created_at from node_output_superseded s
          where s.node_instance_id = p.id and s.position <= $2 and s.superseded_at_position > $2
          order by s.position desc limit 1)
        order by position desc limit 1) last)`;

/** SQL, of `newest`: what was published together with it. A run may publish several times. */
const ofLastPublication = `
  lateral (
    select v.* from output_version v
     where v.node_instance_id = newest.node_instance_id and v.position = newest.position
    union all
    select v.* from output_version v
     where v.node_instance_id = newest.node_instance_id and v.position < newest.position
       and v.run_id = newest.run_id and v.created_at = newest.created_at) v`;

/**
 * SQL: the step `first`, the first `$5` inputs above the position `$4`. Without chosen inputs by the index of each table:
 * from the view PostgreSQL would sort all outputs that the parents published since, for each page.
 */
const firstInputs = (task: Pick<InputBounds, 'inputIds'>) => `
  first as materialized (${task.inputIds === null ? ofEachParent : ofChosen(task)} order by v.position limit $5)`;
const ofEachParent = `
  select v.output_id, v.position from unnest($1::bigint[]) as p (id) cross join lateral (
    (select o.id as output_id, o.position from node_output o
      where o.node_instance_id = p.id and o.position > $4 and o.position <= $2 order by o.position limit $5)
    union all
    (select s.output_id, s.position from node_output_superseded s
      where s.node_instance_id = p.id and s.position > $4 and s.position <= $2 and s.superseded_at_position > $2
      order by s.position limit $5)) v
   where $3::bigint[] is null`;
const ofChosen = (task: Pick<InputBounds, 'inputIds'>) => `
  select v.output_id, v.position from output_version v where ${withinBound(task)} and v.position > $4`;

/** A page of {@link firstInputs}: `$7` of them, those above the position `$6`. */
const pageOfFirst = (task: InputBounds) => `
  with ${firstInputs(task)}, page as materialized (
    select * from first where first.position > $6 order by first.position limit $7)
  select ${inputColumns} from page
    cross join lateral (
      select x.* from output_version x
       where x.output_id = page.output_id and x.position = page.position limit 1) v
    join node_instance n on n.id = v.node_instance_id order by v.position`;

export type InputMode = 'since-watermark' | 'latest' | 'all';

/**
 * A page of a task's inputs, oldest first, within the run's upper bound (decisions, section 9).
 * @param page `afterPosition`: where the page before ended, 0 at the beginning; `cap`: the largest number of inputs of
 *   all pages of `since-watermark` together, without it any number
 */
export async function listInputs(
  database: Queryable,
  task: InputBounds,
  page: { mode: InputMode; afterPosition: number; limit: number; cap?: number },
): Promise<TaskInput[]> {
  const bounds = [task.parentIds, task.upperPosition, task.inputIds];
  const pageOf = (first: readonly number[]) =>
    database.query<TaskInput>(pageOfFirst(task), [...bounds, ...first]);
  const pageAbove = (position: number) => pageOf([position, page.limit, position, page.limit]);
  switch (effectiveMode(task, page.mode)) {
    case 'all':
      return pageAbove(page.afterPosition);
    case 'since-watermark': {
      const watermark = task.claimWatermarkPosition;
      if (page.cap === undefined) return pageAbove(Math.max(watermark, page.afterPosition));
      return pageOf([watermark, page.cap, page.afterPosition, page.limit]);
    }
    case 'latest':
      return database.query<TaskInput>(
        `with ${newestOfParents}
         select ${inputColumns} from newest cross join ${ofLastPublication} join node_instance n on n.id = v.node_instance_id
          where ${withinBound(task)} and v.position > $4
          order by v.position limit $5`,
        [...bounds, page.afterPosition, page.limit],
      );
  }
}

/** A reprocess covers inputs that the watermark of a node that is not incremental has already passed. */
function effectiveMode(task: InputBounds, mode: InputMode): InputMode {
  if (mode === 'since-watermark' && (task.incremental || task.reason !== 'reprocess')) return mode;
  if (task.inputIds !== null) return 'all';
  return mode === 'since-watermark' ? task.reprocess : mode;
}

/** One input of the task by its output id; undefined when it is none of them. */
export async function findInput(
  database: Queryable,
  task: InputBounds,
  outputId: number,
): Promise<TaskInput | undefined> {
  const [input] = await database.query<TaskInput>(
    `select ${inputColumns} from output_version v join node_instance n on n.id = v.node_instance_id
      where ${withinBound(task)} and v.output_id = $4`,
    [task.parentIds, task.upperPosition, task.inputIds, outputId],
  );
  return input;
}

/** What the node retains between its runs: the state its runner stored, and its own newest published output. */
export async function readNodeMemory(
  database: Queryable,
  task: { readonly nodeInstanceId: number },
): Promise<{ state: Record<string, unknown> | null; newestOutput: TaskInput | undefined }> {
  const [node] = await database.query<{
    state: Record<string, unknown> | null;
    newestOutputId: number | null;
  }>('select runner_state as state, newest_output_id from node_instance where id = $1', [
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

/**
 * The newest output of the claim's own node as the claim found it, as far as its version still is. By the times of
 * publications, which follow their positions, so that no claim has to record a position of its own node.
 */
export async function newestOutputAtClaim(
  database: Queryable,
  task: { readonly nodeInstanceId: number; readonly taskId: string },
): Promise<TaskInput | undefined> {
  const [output] = await database.query<TaskInput>(
    `select ${inputColumns} from output_version v join node_instance n on n.id = v.node_instance_id
      where v.node_instance_id = $1
        and v.created_at <= (select c.claimed_at from node_claim c where c.task_id = $2)
      order by v.position desc limit 1`,
    [task.nodeInstanceId, task.taskId],
  );
  return output;
}

type CountBounds = Pick<InputBounds, 'parentIds' | 'upperPosition' | 'inputIds'>;

/** Inputs above the watermark, within the bound. */
export async function countPendingInputs(
  database: Queryable,
  bounds: CountBounds & { watermarkPosition: number },
): Promise<number> {
  return countInputs(database, bounds, { above: bounds.watermarkPosition, upTo: bounds.upperPosition });
}

/**
 * The same for a held task, from the count at its claim: a count of the whole backlog would make each move of the
 * watermark cost more the larger the backlog is.
 */
export async function countPendingOfTask(
  database: Queryable,
  task: CountBounds & {
    watermarkPosition: number;
    claimWatermarkPosition: number;
    claimPendingInputs: number | null;
  },
): Promise<number> {
  const { claimWatermarkPosition: above, watermarkPosition: upTo, claimPendingInputs: atClaim } = task;
  if (atClaim === null) return countPendingInputs(database, task);
  return upTo === above ? atClaim : atClaim - (await countInputs(database, task, { above, upTo }));
}

async function countInputs(
  database: Queryable,
  bounds: CountBounds,
  { above, upTo }: { above: number; upTo: number },
): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    `select count(*) as count from output_version v
      where ${withinBound(bounds)} and v.position > $4 and v.position <= $5`,
    [bounds.parentIds, bounds.upperPosition, bounds.inputIds, above, upTo],
  );
  return row?.count ?? 0;
}

/** Whether any attempt of a run has written an output, or found an existing one. */
export async function hasWrittenOutput(database: Queryable, runId: string): Promise<boolean> {
  const [run] = await database.query<{ wroteOutput: boolean }>(
    'select wrote_output from node_run where id = $1',
    [runId],
  );
  return run?.wroteOutput ?? false;
}

/** How often the holders of a run released it. */
export async function countReleases(database: Queryable, runId: string): Promise<number> {
  const [run] = await database.query<{ count: number }>(
    'select release_count as count from node_run where id = $1',
    [runId],
  );
  return run?.count ?? 0;
}
