/**
 * What follows when a lease or the time of an attempt is over, and the heartbeats of the API processes.
 *
 * Heartbeats of outside runners arrive through API processes. While none was up, no runner could renew a lease: such
 * leases get one more full lease before any call is refused.
 */
import { isRefusal, sqlStates } from '../../domain/network/database-fault.ts';
import { leaseTimes } from '../../domain/runs/lease-times.ts';
import type { EndedAttempt } from '../../domain/sessions/session-change.ts';
import { advisoryLocks } from '../connection/advisory-locks.ts';
import type { Database, Tx } from '../connection/database.ts';
import { builtinHolder } from '../runners/holder.ts';
import { endClaim, isOpen, isOverdue, prolonged } from '../runners/lease.ts';
import {
  type Change,
  changed,
  changeSessionWithin,
  type LockedSession,
  unchanged,
} from './change-session.ts';
import { endFailedAttempt, lockHeldRun, requeueRun } from './requeue-run.ts';

/**
 * Records that this API process is up. The first to find that none was, for longer than the gap, gives every lease that
 * was alive at the last heartbeat one more full lease.
 * @returns the number of leases prolonged
 */
export async function recordProcessHeartbeat(database: Database, processId: string): Promise<number> {
  return database.transaction(async (tx) => {
    // A process that stalls here must not count as the death of every process.
    void tx.pipelined(`set local idle_in_transaction_session_timeout = '2s'`);
    await tx.query('select pg_advisory_xact_lock($1)', [advisoryLocks.alive]);
    const leases = await tx.query(
      `update node_claim c set ${prolonged} from (select max(heartbeat_at) as heartbeat_at from platform_process) last
        where ${isOpen} and last.heartbeat_at < clock_timestamp() - make_interval(secs => $1)
          and c.lease_until > last.heartbeat_at
       returning 1`,
      [leaseTimes.gapSeconds],
    );
    await tx.query(
      `insert into platform_process (process_id, heartbeat_at) values ($1, clock_timestamp())
       on conflict (process_id) do update set heartbeat_at = clock_timestamp()`,
      [processId],
    );
    await tx.query(`delete from platform_process where heartbeat_at < clock_timestamp() - interval '1 hour'`);
    return leases.length;
  });
}

/** The session stays locked: its claims wait for the next round, and do not delay other sessions' claims. */
class SessionBusy extends Error {}

export interface EndedClaim {
  readonly sessionId: string;
  /** Empty when the run continues as the same attempt. */
  readonly ended: readonly EndedAttempt[];
}

/**
 * Ends the claims whose lease or time is over, at most `limit`, each in a transaction of its own. Leases of outside
 * runners are left alone while no API process is up. A session that stays locked, for example by a process stalled in a
 * transaction, is left out.
 */
export async function endOverdueClaims(
  database: Database,
  limit: number,
  jitter: () => number,
): Promise<EndedClaim[]> {
  const overdue = await database.query<{ taskId: string; sessionId: string }>(
    `select c.task_id, r.session_id from node_claim c join node_run r on r.id = c.run_id
      where ${isOverdue}
        and (c.holder = '${builtinHolder}' or exists (
          select 1 from platform_process where heartbeat_at > clock_timestamp() - make_interval(secs => $2)))
      order by c.lease_until limit $1`,
    [limit, leaseTimes.gapSeconds],
  );
  const endedClaims: EndedClaim[] = [];
  const busy = new Set<string>();
  for (const { taskId, sessionId } of overdue) {
    if (busy.has(sessionId)) continue;
    try {
      const ended = await database.transaction((tx) => endUnlessBusy(tx, taskId, jitter()));
      if (ended) endedClaims.push({ sessionId, ended });
    } catch (error) {
      if (!(error instanceof SessionBusy)) throw error;
      busy.add(sessionId);
    }
  }
  return endedClaims;
}

/** Waits for a lock only as long as a busy session needs to release it. */
async function endUnlessBusy(
  tx: Tx,
  taskId: string,
  jitter: number,
): Promise<readonly EndedAttempt[] | undefined> {
  void tx.pipelined(`set local lock_timeout = '200ms'`);
  try {
    return await changeSessionWithin(tx, { taskId }, (session) =>
      endOverdueClaim(tx, session, taskId, jitter),
    );
  } catch (error) {
    if (isRefusal(error, sqlStates.lockNotAvailable)) throw new SessionBusy();
    throw error;
  }
}

async function endOverdueClaim(
  tx: Tx,
  session: LockedSession,
  taskId: string,
  jitter: number,
): Promise<Change<readonly EndedAttempt[] | undefined>> {
  const [claim] = await tx.query<{ runId: string; timedOut: boolean; lostReason: string | null }>(
    `${endClaim("ending = 'lost'", isOverdue)}
     select run_id, lost_reason, coalesce(timeout_at < clock_timestamp(), false) as timed_out from ended`,
    [taskId],
  );
  if (!claim) return unchanged(undefined);
  const ended = claim.timedOut
    ? await endTimedOut(tx, session, claim.runId, jitter)
    : (await requeueRun(tx, session, claim.runId, { kind: 'lost', reason: claim.lostReason })).ended;
  return changed(ended, ended);
}

async function endTimedOut(
  tx: Tx,
  session: LockedSession,
  runId: string,
  jitter: number,
): Promise<EndedAttempt[]> {
  const run = await lockHeldRun(tx, runId);
  if (!run) return [];
  const report = {
    kind: 'fail',
    category: 'timeout',
    reason: 'The attempt exceeded the time limit of its node template.',
  } as const;
  return [(await endFailedAttempt(tx, session, run, report, jitter)).ended];
}
