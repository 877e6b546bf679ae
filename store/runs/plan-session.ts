/**
 * The next step of a session's graph: which nodes get a run now.
 *
 * Called by every transaction that writes a fact (upload published, outcome, reprocess, unfreeze) for the changed node
 * and its children, and by the session's workflow for the whole session. Twice in a row does nothing the second time.
 */
import { nodeStateCodes } from '../../domain/runs/node-state.ts';
import { failedWith, type NodeFacts, type RunReason, reasonToRun } from '../../domain/runs/run-plan.ts';
import { currentTraceparent } from '../../telemetry/trace.ts';
import type { Tx } from '../connection/database.ts';
import { newId } from '../connection/ids.ts';
import { type LockedSession, noteQueued } from './change-session.ts';
import { claimTime } from './claim-order.ts';
import { checkConfigurations, isConfigurationChecked } from './configuration-check.ts';
import { notifyReady, queuedColumns } from './queue.ts';
import { fixUpperBound, writeDone } from './write-run-outcome.ts';

/** The distance, in milliseconds, between the ranks of two runs of one session: a busy session yields by this. */
export const fairShareMs = 50;

interface NodeRow extends NodeFacts {
  readonly id: number;
  readonly templateName: string;
  readonly runnerType: string;
  readonly maxAttempts: number;
  readonly isChecked: boolean;
}

/** The select of what planning needs to know of nodes `n` with their templates `t`. */
export const nodeFacts = `
  select n.id, t.type = 'Input' as "isInput", t.trigger, n.consumed_position as "consumedPosition",
         n.follow_up_wanted as "followUpWanted", (n.reprocess_wanted or n.reprocess_input_ids is not null) as "reprocessWanted",
         t.name as "templateName", t.runner_type as "runnerType", t.max_attempts as "maxAttempts",
         ${isConfigurationChecked} as "isChecked",
         coalesce((select array_agg(p.newest_position) from node_instance p where p.id = any (n.parent_ids)), '{}')
           as "parentPositions",
         -- An "exists" may be answered by reading all runs there are.
         coalesce((select true from node_run r where r.node_instance_id = n.id and r.state <> 'done' limit 1), false)
           as "hasOpenRun"
    from node_instance n join node_template t on t.id = n.node_template_id`;
const wholeSession = `${nodeFacts} where n.session_id = $1 order by n.ordinal`;
const changedNodeAndChildren = `${nodeFacts}
   where n.id = $1 or n.id = any (array(select unnest(c.child_ids) from node_instance c where c.id = $1))
   order by n.ordinal`;

const queueRuns = `
  with wanted as (
    select * from unnest($2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::int[], $8::float8[])
      as w (run_id, node_id, template_name, runner_type, reason, max_attempts, queue_time_ms)
  ), run as (
    insert into node_run as r (id, session_id, node_instance_id, template_name, runner_type, reason, state, max_attempts,
                          queue_time, claim_time, project_id, frozen, reprocess_position, reprocess_output_id,
                          input_ids, traceparent)
    select w.run_id, $1, w.node_id, w.template_name, w.runner_type, w.reason, 'queued', w.max_attempts,
           q.time, ${claimTime('q.time', 's', 'p')}, p.id, s.frozen_at is not null, n.follow_up_reprocess_position,
           n.follow_up_reprocess_output_id,
           case when w.reason = 'follow-up' then n.follow_up_input_ids
                when w.reason = 'reprocess' and not n.reprocess_wanted then n.reprocess_input_ids end, $9
      from wanted w join node_instance n on n.id = w.node_id
      join session s on s.id = $1 join project p on p.id = s.project_id
     cross join lateral (select to_timestamp(w.queue_time_ms / 1000) as time) q
    returning ${queuedColumns}, r.frozen
  ), attempts as (
    insert into node_attempt (run_id, number, session_id) select run_id, 1, $1 from wanted
  ), nodes as (
    update node_instance n
       set state = ${nodeStateCodes.Pending}, status_details = '', follow_up_wanted = false,
           follow_up_reprocess_position = null, follow_up_reprocess_output_id = null, follow_up_input_ids = null,
           reprocess_input_ids = case when n.reprocess_wanted or w.reason <> 'reprocess' then n.reprocess_input_ids end,
           reprocess_wanted = n.reprocess_wanted and w.reason <> 'reprocess'
      from wanted w where n.id = w.node_id
  )
  select ${notifyReady('run')} from run where not frozen`;

/**
 * Queues the runs that are wanted. A run of a node whose configuration does not match its template's schema fails at
 * once and never reaches a runner. Those of a frozen session are queued too, so that its nodes are Pending, and wait
 * until it is unfrozen.
 * @param session its queue time moves on, which is saved with the change
 * @param changedNodeId the node whose fact was written; without it the whole session is planned
 * @param traceparent the trace that the runs continue; default: that of the work that writes the fact
 * @returns the ids of the node instances that got a run
 */
export async function planSession(
  tx: Tx,
  session: LockedSession,
  changedNodeId?: number,
  traceparent?: string | null,
): Promise<readonly number[]> {
  const nodes =
    changedNodeId === undefined
      ? await tx.query<NodeRow>(wholeSession, [session.sessionId])
      : await tx.query<NodeRow>(changedNodeAndChildren, [changedNodeId]);
  const wanted: WantedRun[] = [];
  for (const node of nodes) {
    const reason = reasonToRun(node);
    if (reason) wanted.push({ runId: newId(), node, reason, queueTimeMs: nextQueueTime(session) });
  }
  if (wanted.length === 0) return [];
  void tx.pipelined(queueRuns, [
    session.sessionId,
    wanted.map(({ runId }) => runId),
    wanted.map(({ node }) => node.id),
    wanted.map(({ node }) => node.templateName),
    wanted.map(({ node }) => node.runnerType),
    wanted.map(({ reason }) => reason),
    wanted.map(({ node }) => node.maxAttempts),
    wanted.map(({ queueTimeMs }) => queueTimeMs),
    traceparent ?? currentTraceparent(),
  ]);
  if (!session.frozen) for (const { node } of wanted) noteQueued(session, node.runnerType);
  const failed = wanted.every(({ node }) => node.isChecked) ? noNodes : await failMisconfigured(tx, wanted);
  return wanted.flatMap(({ node }) => (failed.has(node.id) ? [] : [node.id]));
}

interface WantedRun {
  readonly runId: string;
  readonly node: NodeRow;
  readonly reason: RunReason;
  readonly queueTimeMs: number;
}

const noNodes: ReadonlySet<number> = new Set();

/** @returns the nodes whose run has failed */
async function failMisconfigured(tx: Tx, wanted: readonly WantedRun[]): Promise<ReadonlySet<number>> {
  const unchecked = wanted.filter(({ node }) => !node.isChecked);
  const faults = await checkConfigurations(
    tx,
    unchecked.map(({ runId }) => runId),
  );
  for (const { runId, node } of unchecked) {
    const reason = faults.get(node.id);
    if (reason === undefined) continue;
    await fixUpperBound(tx, runId);
    const failure = failedWith({ category: 'validation', reason });
    await writeDone(tx, { runId, nodeInstanceId: node.id, attempt: 1 }, failure);
  }
  return new Set(faults.keys());
}

/** The next queue time of the session, milliseconds since 1970. */
export function nextQueueTime(session: LockedSession): number {
  session.mayBeOver = false;
  session.queueTimeMs = Math.max(session.nowMs, session.queueTimeMs + fairShareMs);
  return session.queueTimeMs;
}
