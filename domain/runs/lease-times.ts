/**
 * Every number of a task's lease, with its reason. A lease runs by the database's clock (architecture 004); store/runs/lease.ts
 * says what renews it, store/runs/expire-leases.ts what follows when it is over.
 */

/** Two heartbeats in a row may be lost before a lease is. */
const heartbeatsPerLease = 3;

export function heartbeatIntervalSeconds(leaseSeconds: number): number {
  return Math.max(1, Math.floor(leaseSeconds / heartbeatsPerLease));
}

const minSeconds = 10;
const gapSeconds = 5;

export const leaseTimes = {
  /** Unless the node template says otherwise. */
  defaultSeconds: 30,
  /** A shorter lease would not outlast a slow answer of the database. */
  minSeconds,
  /** The work of a runner that died continues after an hour at the latest. */
  maxSeconds: 3_600,
  /** The lease of built-in nodes: workers reach the database directly, so their runs need no more. */
  builtinSeconds: 15,

  /** The platform's own renewals, while bytes of a call flow or a built-in node runs: often enough for the shortest lease. */
  renewEveryMs: heartbeatIntervalSeconds(minSeconds) * 1_000,
  /** How often it is checked whether a renewal is due where no bytes are seen. */
  checkEveryMs: 500,

  /** A call that logs leaves a lease alone that has lost less than this: a task that logs much writes less. */
  logRenewAfterSeconds: 1,

  /** Heartbeats of the API processes, through which those of the runners come. */
  processHeartbeatEveryMs: 1_000,
  /** Without a heartbeat of any API process for this long, none was up, and no lease counts as lost. */
  gapSeconds,
  /**
   * A process that was silent for this long records a heartbeat before it refuses a call: just before the gap begins.
   */
  standstillMs: (gapSeconds - 1) * 1_000,
  /** But no call waits longer than this for that heartbeat. */
  catchUpLimitMs: 2_000,

  /** How often expired leases are searched for: work is claimable again this soon after its lease. */
  expireEveryMs: 2_000,
  /** A worker that stalled, or whose database stalled, for as long as a gap lets holders renew first. */
  expirePauseMs: gapSeconds * 1_000,

  /** How long a holder may continue a cancelled run, beyond the one lease in which it must have called. */
  cancelGraceSeconds: 60,
} as const;
