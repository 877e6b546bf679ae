/**
 * Operators' actions on runs: retry those that failed for good, and cancel open ones. Decided and written under the
 * session's lock, so that two operators, or an operator and an upload, come one after the other.
 *
 * A run that is tried again is the same run: it keeps its upper bound, in a reprocess its own watermark, and its
 * published outputs, and gets as many further attempts as its node template allows.
 */
import { nodeStateCodes } from '../../domain/runs/node-state.ts';
import { cancelled, cancelVerdict, type RetryVerdict, retryVerdict } from '../../domain/runs/run-plan.ts';
import type { Database, Tx } from '../connection/database.ts';
import { boundCancelledLease } from '../runners/lease.ts';
import {
  type Change,
  changed,
  changeSession,
  type LockedSession,
  noteQueued,
  unchanged,
} from './change-session.ts';
import { claimTime } from './claim-order.ts';
import { checkConfigurations } from './configuration-check.ts';
import { findNodeRun, lockOperatedRun, type NodeRunRow } from './node-runs.ts';
import { nextQueueTime, planSession } from './plan-session.ts';
import { notifyReady, queued, queuedColumns } from './queue.ts';
import { fixUpperBound, writeDone } from './write-run-outcome.ts';

export type RetryResult =
  | { readonly outcome: 'queued'; readonly run: NodeRunRow }
  /** It was tried again before and is still open: nothing changed. */
  | { readonly outcome: 'unchanged'; readonly run: NodeRunRow }
  | {
      readonly outcome: 'missing' | 'frozen' | Exclude<RetryVerdict, 'retry' | 'retried-already'>;
    }
  /** The node's configuration does not match its template's schema. */
  | { readonly outcome: 'invalid-configuration'; readonly fault: string };

/** Retries one run that failed for good. */
export async function retryRun(database: Database, runId: string, userId: string): Promise<RetryResult> {
  const result = await changeSession<RetryResult>(database, { runId }, async (tx, session) => {
    const run = await lockOperatedRun(tx, runId);
    if (!run) return unchanged({ outcome: 'missing' });
    if (session.frozen) return unchanged({ outcome: 'frozen' });
    const verdict = retryVerdict(run);
    if (verdict === 'retried-already')
      return unchanged({ outcome: 'unchanged', run: await shown(tx, runId) });
    if (verdict !== 'retry') return unchanged({ outcome: verdict });
    const fault = (await checkConfigurations(tx, [runId])).get(run.nodeInstanceId);
    if (fault !== undefined) return unchanged({ outcome: 'invalid-configuration', fault });
    await queueAgain(tx, session, [runId], userId);
    return changed({ outcome: 'queued', run: await shown(tx, runId) });
  });
  return result ?? { outcome: 'missing' };
}

export type RetryFailedResult =
  | { readonly outcome: 'done'; readonly retried: number }
  | { readonly outcome: 'missing' | 'frozen' };

/**
 * Retries the newest run of every failed node of a session, cancelled ones too: one a node, also where a full run and a
 * later one over chosen inputs have both failed. Nodes whose configuration does not match their template's schema are
 * left unchanged.
 */
export async function retryFailedRuns(
  database: Database,
  sessionId: string,
  userId: string,
): Promise<RetryFailedResult> {
  const result = await changeSession<RetryFailedResult>(database, { sessionId }, async (tx, session) => {
    if (session.frozen) return unchanged({ outcome: 'frozen' });
    const failed = await tx.query<{ runId: string; nodeInstanceId: number }>(
      `select r.id as run_id, n.id as node_instance_id
         from node_instance n join node_run r on r.node_instance_id = n.id
        where n.session_id = $1 and n.state = ${nodeStateCodes.Failed}
          and r.outcome in ('failed', 'cancelled')
          and not exists (select from node_run x where x.node_instance_id = n.id and x.queue_time > r.queue_time)
        order by n.ordinal for update of r`,
      [sessionId],
    );
    const faults = await checkConfigurations(
      tx,
      failed.map(({ runId }) => runId),
    );
    const runIds = failed.filter((run) => !faults.has(run.nodeInstanceId)).map(({ runId }) => runId);
    await queueAgain(tx, session, runIds, userId);
    return changed({ outcome: 'done', retried: runIds.length });
  });
  return result ?? { outcome: 'missing' };
}

const queueAgainStatement = `
  with wanted as (
    select * from unnest($1::uuid[], $2::float8[]) as w (run_id, queue_time_ms)
  ), run as (
    update node_run r
       set ${queued}, outcome = null, ended_at = null, status_details = '', frozen = false,
           attempt = r.attempt + 1, first_attempt = r.attempt + 1, max_attempts = r.attempt + t.max_attempts,
           lost_count = 0, release_count = 0, cancel_requested = false,
           queue_time = q.time, claim_time = ${claimTime('q.time', 's', 'p')}, project_id = p.id,
           -- What was staged went with the failure; what a watermark published stands.
           wrote_output = exists (select 1 from node_output o where o.run_id = r.id and o.position is not null)
      from wanted w cross join lateral (select to_timestamp(w.queue_time_ms / 1000) as time) q,
           node_instance n, node_template t, session s join project p on p.id = s.project_id
     where r.id = w.run_id and n.id = r.node_instance_id and t.id = n.node_template_id and s.id = r.session_id
    returning r.id, r.session_id, r.node_instance_id, r.attempt, old.max_attempts as max_attempts_before, ${queuedColumns}
  ), attempts as (
    insert into node_attempt (run_id, number, session_id) select id, attempt, session_id from run
  ), actions as (
    insert into node_run_action (run_id, attempt, action, user_id, max_attempts_before)
    select id, attempt, 'retry', $3, max_attempts_before from run
  ), nodes as (
    update node_instance n set state = ${nodeStateCodes.Pending}, status_details = ''
      from run where n.id = run.node_instance_id
  )
  select runner_type, ${notifyReady('run')} from run`;

async function queueAgain(
  tx: Tx,
  session: LockedSession,
  runIds: readonly string[],
  userId: string,
): Promise<void> {
  if (runIds.length === 0) return;
  const runs = await tx.query<{ runnerType: string }>(queueAgainStatement, [
    runIds,
    runIds.map(() => nextQueueTime(session)),
    userId,
  ]);
  for (const { runnerType } of runs) noteQueued(session, runnerType);
}

export type CancelResult =
  | { readonly outcome: 'ended'; readonly run: NodeRunRow }
  /**
   * The holder learns of it by its next heartbeat; whatever it reports by then, or if it reports nothing, the run ends
   * as cancelled.
   */
  | { readonly outcome: 'requested'; readonly run: NodeRunRow }
  /** It was cancelled before. */
  | { readonly outcome: 'unchanged'; readonly run: NodeRunRow }
  | { readonly outcome: 'missing' | 'ended-otherwise' };

/** Cancels an open run. Its inputs count as consumed, as those of any run that ended. */
export async function cancelRun(database: Database, runId: string, userId: string): Promise<CancelResult> {
  const result = await changeSession(database, { runId }, (tx, session) =>
    cancelWithin(tx, session, runId, userId),
  );
  return result ?? { outcome: 'missing' };
}

async function cancelWithin(
  tx: Tx,
  session: LockedSession,
  runId: string,
  userId: string,
): Promise<Change<CancelResult>> {
  const run = await lockOperatedRun(tx, runId);
  if (!run) return unchanged({ outcome: 'missing' });
  const verdict = cancelVerdict(run);
  if (verdict === 'ended') return unchanged({ outcome: 'ended-otherwise' });
  if (verdict === 'cancelled-already')
    return unchanged({ outcome: 'unchanged', run: await shown(tx, runId) });
  await tx.query(
    `with run as (update node_run set cancel_requested = true where id = $1 returning attempt)
     insert into node_run_action (run_id, attempt, action, user_id) select $1, attempt, 'cancel', $2 from run`,
    [runId, userId],
  );
  if (verdict === 'notify-holder') {
    await boundCancelledLease(tx, runId);
    // The holder is notified; the graph changes when it ends the task.
    return unchanged({ outcome: 'requested', run: await shown(tx, runId) });
  }
  await fixUpperBound(tx, runId);
  const ended = await writeDone(tx, { runId, ...run }, cancelled);
  await planSession(tx, session, run.nodeInstanceId);
  return changed({ outcome: 'ended', run: await shown(tx, runId) }, [ended]);
}

async function shown(tx: Tx, runId: string): Promise<NodeRunRow> {
  return (await findNodeRun(tx, runId))!;
}
