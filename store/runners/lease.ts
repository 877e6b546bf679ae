/**
 * The lease of a claim: what renews it, how long it is alive, and the fence of every write under it. Its numbers are in
 * domain/runs/lease-times.ts, what follows its end in store/runs/expire-leases.ts.
 *
 * In the SQL `c` is the claim. The clock is read after the row is locked: an update rereads it for a row that it waited
 * for.
 */

import { leaseTimes } from '../../domain/runs/lease-times.ts';
import type { RunReason } from '../../domain/runs/run-plan.ts';
import type { Queryable, Tx } from '../connection/database.ts';
import { jsonOrNull } from '../connection/parameters.ts';
import type { RunnerIdentity, TaskHolder } from './holder.ts';

/** The claim has not ended; its lease may be over, which prolongs or ends it soon. */
export const isOpen = 'c.ended_at is null';

/** The claim's holder may write. */
export const isAlive = `${isOpen} and c.lease_until > clock_timestamp()`;

/** The lease is over, or the time of the attempt. */
export const isOverdue = `${isOpen} and (c.lease_until < clock_timestamp() or c.timeout_at < clock_timestamp())`;

/** The caller holds the task; $1 task, $2 holder, $3 instance. */
export const isHeld = `c.task_id = $1 and c.holder = $2 and c.instance_id = $3 and ${isAlive}`;

/** The values of the parameters of {@link isHeld}. */
export const heldValues = ({ taskId, holder, instanceId }: TaskHolder) => [taskId, holder, instanceId];

/** @param seconds an SQL expression */
export const leaseFromNow = (seconds: string) => `clock_timestamp() + make_interval(secs => ${seconds})`;

/** For `update ... set`: a whole lease from now on. */
export const prolonged = `lease_until = ${leaseFromNow('c.lease_seconds')}`;

/** For `update ... set`, by a call for the task: a used claim counts as lost when it ends without an outcome. */
export const renewed = `${prolonged}, used = true`;

/** The claim of the caller, its lease renewed; $1 task, $2 holder, $3 instance. */
export const renewHeld = `update node_claim c set ${renewed} where ${isHeld}`;

/** Locks the run of task $1: before its claim, as everywhere. */
export const lockRun = (columns: string) => `
  select ${columns} from node_run r
   where r.id = (select c.run_id from node_claim c where c.task_id = $1) for update`;

/**
 * The steps `run` and `ended` of a statement that ends the claim of task $1. @param set the columns that describe the
 * end
 */
export const endClaim = (set: string, condition: string) => `
  with run as materialized (${lockRun('r.*')}), ended as (
    update node_claim c set ended_at = clock_timestamp(), ${set} from run
     where c.task_id = $1 and c.run_id = run.id and ${condition}
    returning c.*
  )`;

/** What decides which inputs a task has. */
export interface InputBounds {
  readonly parentIds: readonly number[];
  readonly incremental: boolean;
  readonly reason: RunReason;
  /** What a reprocess of the node goes over. */
  readonly reprocess: 'latest' | 'all';
  readonly upperPosition: number;
  /** The chosen inputs of a reprocess; null: all within the bound. */
  readonly inputIds: readonly number[] | null;
  /** As of the claim. */
  readonly claimWatermarkPosition: number;
}

/** A held task, as every call for it needs it. */
export interface HeldTask extends InputBounds, TaskHolder {
  readonly runId: string;
  readonly attempt: number;
  readonly sessionId: string;
  readonly nodeInstanceId: number;
  /** The run's own one in a reprocess, else the node's. */
  readonly watermarkPosition: number;
  readonly watermarkOutputId: number | null;
  /** Inputs above the watermark as of the claim; null for a claim of an earlier version. */
  readonly claimPendingInputs: number | null;
  readonly leaseExpiresAt: Date;
  readonly cancelRequested: boolean;
}

/** Whether a claim was handed out as one of an incremental node; the template `t` may have changed meanwhile. */
export const wasIncremental = (claim: string) => `coalesce(${claim}.incremental, t.incremental)`;

/** The watermark of a run `r` of a node `n`, as two columns: a reprocess has one of its own. */
export const runWatermark = `
         coalesce(r.reprocess_position, n.watermark_position) as watermark_position,
         case when r.reprocess_position is null then n.watermark_output_id else r.reprocess_output_id end
           as watermark_output_id`;

const renewStatement = `
  with claim as (${renewHeld} returning c.*)
  select claim.task_id, claim.run_id, claim.attempt, r.session_id,
         n.id as node_instance_id, n.parent_ids, ${wasIncremental('claim')} as incremental, r.reason,
         t.reprocess, r.upper_position, r.input_ids, claim.watermark_position as claim_watermark_position,
         claim.pending_inputs as claim_pending_inputs,
         ${runWatermark}, claim.lease_until as lease_expires_at, r.cancel_requested
    from claim join node_run r on r.id = claim.run_id join node_instance n on n.id = r.node_instance_id
    join node_template t on t.id = n.node_template_id`;

/**
 * Renews the lease of a held task and returns the task; undefined when the caller does not hold it (any more).
 * Every call for a task begins with this; in a transaction it is the fence of what follows.
 */
export async function renewLease(database: Queryable, caller: TaskHolder): Promise<HeldTask | undefined> {
  const [task] = await database.query<Omit<HeldTask, keyof RunnerIdentity>>(
    renewStatement,
    heldValues(caller),
  );
  return task && { ...task, holder: caller.holder, instanceId: caller.instanceId };
}

/** {@link renewLease} with the run and then the claim locked until the transaction ends, as an end of the task locks them. */
export async function lockAndRenewLease(tx: Tx, caller: TaskHolder): Promise<HeldTask | undefined> {
  void tx.pipelined(lockRun('1'), [caller.taskId]);
  return renewLease(tx, caller);
}

/** Renews the lease and saves the runner's progress. */
export async function recordHeartbeat(
  database: Queryable,
  caller: TaskHolder,
  said: { phase: string | null; message: string | null; progress?: Record<string, unknown> | null },
): Promise<{ leaseExpiresAt: Date; cancelRequested: boolean } | undefined> {
  const [row] = await database.query<{ leaseExpiresAt: Date; cancelRequested: boolean }>(
    `update node_claim c set ${renewed}, phase = $4, message = $5, progress = $6::jsonb
       from node_run r
      where ${isHeld} and r.id = c.run_id
      returning c.lease_until as lease_expires_at, r.cancel_requested`,
    [...heldValues(caller), said.phase, said.message, jsonOrNull(said.progress)],
  );
  return row;
}

/** Whether the claim is open, even if its lease is over: a lease that expired while no server was up is prolonged. */
export async function isClaimOpen(database: Queryable, taskId: string): Promise<boolean> {
  const rows = await database.query(`select 1 from node_claim c where c.task_id = $1 and ${isOpen}`, [
    taskId,
  ]);
  return rows.length > 0;
}

/** Ends the leases of a holder that died at once; they count as lost even without any call for the task. */
export async function endLeases(database: Queryable, holder: string, reason: string | null): Promise<void> {
  await database.query(
    `update node_claim c set used = true, lease_until = least(c.lease_until, clock_timestamp()),
            lost_reason = coalesce(c.lost_reason, $2)
      where c.holder = $1 and ${isOpen}`,
    [holder, reason],
  );
}

/**
 * A holder that continues to send heartbeats would hold a cancelled run for ever. It has one lease to learn of the
 * cancel, from any call that renews the lease, and then a while to end the task; a shorter time limit of the attempt
 * stays.
 */
export async function boundCancelledLease(tx: Tx, runId: string): Promise<void> {
  await tx.query(
    `update node_claim c set timeout_at = least(c.timeout_at, ${leaseFromNow('c.lease_seconds + $2')})
      where c.run_id = $1 and ${isOpen}`,
    [runId, leaseTimes.cancelGraceSeconds],
  );
}
