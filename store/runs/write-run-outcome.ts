/** Writing what the end of an attempt means for its run, its attempt row and its node. The session is locked. */

import { type NodeState, nodeStateCodes } from '../../domain/runs/node-state.ts';
import type { AttemptEnd } from '../../domain/runs/run-plan.ts';
import type { EndedAttempt } from '../../domain/sessions/session-change.ts';
import { attemptFailed, runEnded } from '../../telemetry/metrics.ts';
import type { Tx } from '../connection/database.ts';
import { jsonOrNull } from '../connection/parameters.ts';
import { countPublication, publicationSteps } from '../outputs/publish-output.ts';
import { type LockedSession, waitsFor } from './change-session.ts';
import { notifyReady, queuedAfter, queuedColumns } from './queue.ts';

/** A run whose attempt has just ended; its row is locked. */
export interface EndingRun {
  readonly runId: string;
  readonly nodeInstanceId: number;
  readonly attempt: number;
}

export interface DoneEffects {
  /** Set when the run succeeds: what it has staged is published there. Else it is dropped. */
  readonly publishTo?: LockedSession | undefined;
  /** The incremental state to save; undefined leaves what is stored. */
  readonly state?: Record<string, unknown> | undefined;
  readonly followUpWanted?: boolean | undefined;
  /**
   * Set for a node that is not incremental when its run succeeds: the watermark follows the run's upper bound. A run
   * over chosen inputs leaves it, as it leaves what the node has consumed.
   */
  readonly watermarkToUpper?: boolean | undefined;
}

interface EndedRow {
  readonly awaited: boolean;
  readonly templateName: string;
}

/** The row of a run that publishes. */
interface DoneRow extends EndedRow {
  readonly publishedCount: number;
  readonly publishedBytes: number;
}

type Done = Extract<AttemptEnd, { kind: 'done' }>;
type Retry = Extract<AttemptEnd, { kind: 'retry' }>;

/** What becomes of the outputs and annotations that a run has staged: parts of {@link endRun}. */
interface StagedWork {
  readonly steps: string;
  /** For `set` of the node. */
  readonly set: string;
  readonly source: string;
  readonly returned: string;
}

/** $12 the session's newest position, $13 the time of the publication */
const published: StagedWork = {
  steps: publicationSteps({ runId: '$1', after: '$12::bigint', at: '$13::timestamptz' }),
  set: `newest_position = coalesce(publication.position, n.newest_position),
         newest_output_id = coalesce(publication.id, n.newest_output_id),`,
  source: ', publication',
  returned: ', publication.count as published_count, publication.bytes as published_bytes',
};
const dropped: StagedWork = {
  steps: `
  dropped as (
    delete from node_output where run_id = $1 and position is null returning data_source_id, object_key
  ), unseen as (
    delete from annotation where run_id = $1 and staged
  ), unwanted as (
    insert into object_deletion (data_source_id, object_key) select data_source_id, object_key from dropped
  )`,
  set: '',
  source: '',
  returned: '',
};

/** A statement for each end: PostgreSQL prepares all steps of a statement whenever it runs, needed or not. */
const endRun = ({ steps, set, source, returned }: StagedWork) => `
  with ${steps}, run as (
    update node_run set state = 'done', outcome = $4, status_details = $5, ended_at = clock_timestamp(), due_at = null,
           lineage = case when $4 = 'completed' or exists (
                            select 1 from node_output o where o.run_id = $1 and o.position is not null)
                          then run_lineage($1, $2) end
     where id = $1
    returning upper_position, input_ids, reprocess_position, reprocess_output_id, template_name, ended_at
  ), attempt as (
    update node_attempt set ended_at = run.ended_at, outcome = $4, details = $10, category = $11
      from run where run_id = $1 and number = $2 returning awaited
  )
  update node_instance n
     set state = $6, status_details = $5, last_processed = run.ended_at, ${set}
         consumed_position = case when run.input_ids is null
                                  then greatest(n.consumed_position, coalesce(run.upper_position, 0))
                                  else n.consumed_position end,
         runner_state = coalesce($7::jsonb, n.runner_state), follow_up_wanted = $8,
         follow_up_reprocess_position = case when $8 then run.reprocess_position end,
         follow_up_reprocess_output_id = case when $8 then run.reprocess_output_id end,
         follow_up_input_ids = case when $8 then run.input_ids end,
         watermark_position = case when $9 and run.input_ids is null
                                   then greatest(n.watermark_position, coalesce(run.upper_position, 0))
                                   else n.watermark_position end,
         watermark_output_id = case when $9 and run.input_ids is null
                                         and coalesce(run.upper_position, 0) > n.watermark_position then (
             -- By the index of each table: from the view PostgreSQL would sort all outputs of the parents.
             select v.output_id from unnest(n.parent_ids) as p (id) cross join lateral (
               (select o.id as output_id, o.position from node_output o
                 where o.node_instance_id = p.id and o.position <= run.upper_position order by o.position desc limit 1)
               union all
               (select s.output_id, s.position from node_output_superseded s
                 where s.node_instance_id = p.id and s.position <= run.upper_position
                 order by s.position desc limit 1)) v
              order by v.position desc limit 1)
           else n.watermark_output_id end
    from run, attempt${source} where n.id = $3
   returning attempt.awaited, run.template_name${returned}`;
const endAndPublish = endRun(published);
const endAndDrop = endRun(dropped);

/**
 * Ends the run for good. Outputs staged since its watermark last moved are published with it where it succeeded; else
 * they are dropped, and their objects go to the deletion queue. Published outputs stay, and the run keeps its lineage.
 */
export async function writeDone(
  tx: Tx,
  run: EndingRun,
  end: Done,
  effects: DoneEffects = {},
): Promise<EndedAttempt> {
  const { publishTo } = effects;
  const parameters = [
    run.runId,
    run.attempt,
    run.nodeInstanceId,
    end.outcome,
    end.statusDetails,
    nodeStateCodes[end.nodeState satisfies NodeState],
    jsonOrNull(effects.state),
    effects.followUpWanted ?? false,
    effects.watermarkToUpper ?? false,
    end.failure?.reason ?? end.statusDetails,
    end.failure?.category ?? null,
  ];
  const row =
    publishTo === undefined
      ? (await tx.query<EndedRow>(endAndDrop, parameters))[0]
      : await endAndPublishTo(tx, publishTo, parameters);
  if (row) {
    tx.onCommit(() => {
      runEnded(row.templateName, end.outcome);
      if (end.failure) attemptFailed(row.templateName, end.failure.category);
    });
  }
  return { runId: run.runId, attempt: run.attempt, outcome: end.outcome, awaited: row?.awaited ?? true };
}

async function endAndPublishTo(
  tx: Tx,
  session: LockedSession,
  parameters: readonly unknown[],
): Promise<EndedRow | undefined> {
  const { newestPosition, publishedAt } = session;
  const [row] = await tx.query<DoneRow>(endAndPublish, [...parameters, newestPosition, publishedAt]);
  if (row) countPublication(session, row.publishedCount, row.publishedBytes);
  return row;
}

/**
 * Fixes the upper bound of a run that ends before its first claim: its inputs count as consumed, as those of any run
 * that ended, and do not cause another run at once.
 */
export async function fixUpperBound(tx: Tx, runId: string): Promise<void> {
  await tx.query(
    `update node_run r
        set upper_position = (
              select coalesce(max(p.newest_position), 0) from node_instance n
                join node_instance p on p.id = any (n.parent_ids) where n.id = r.node_instance_id)
      where r.id = $1 and r.upper_position is null`,
    [runId],
  );
}

const retryRun = `
  with run as (
    update node_run r
       set ${queuedAfter('$4::float8')}, attempt = $2 + 1, status_details = $5, lost_count = lost_count + $6
     where id = $1 returning session_id, due_at, ${queuedColumns}
  ), ended as (
    update node_attempt set ended_at = clock_timestamp(), outcome = $7, details = $8, category = $9
     where run_id = $1 and number = $2 returning awaited
  ), next as (
    insert into node_attempt (run_id, number, session_id, available_at)
    select $1, $2 + 1, session_id, coalesce(due_at, clock_timestamp()) from run
  ), node as (
    update node_instance set state = ${nodeStateCodes.Pending}, status_details = $5 where id = $3
  )
  select ended.awaited, run.template_name, ${notifyReady('run')} from ended, run`;

/** Ends the attempt and queues the run for its next one: at once, or after the delay. */
export async function writeRetry(
  tx: Tx,
  session: LockedSession,
  run: EndingRun,
  end: Retry,
): Promise<EndedAttempt> {
  waitsFor(session, end.delayMs);
  const [row] = await tx.query<EndedRow>(retryRun, [
    run.runId,
    run.attempt,
    run.nodeInstanceId,
    end.delayMs / 1_000,
    end.statusDetails,
    end.outcome === 'lost' ? 1 : 0,
    end.outcome,
    end.failure.reason,
    end.failure.category,
  ]);
  if (row)
    tx.onCommit(() =>
      attemptFailed(row.templateName, end.outcome === 'lost' ? end.outcome : end.failure.category),
    );
  return { runId: run.runId, attempt: run.attempt, outcome: end.outcome, awaited: row?.awaited ?? true };
}
