/** Ends claims whose lease or time is over, so that their work is claimable again within seconds. */
import type { Logger } from 'pino';
import { leaseTimes } from '../domain/runs/lease-times.ts';
import type { Database } from '../store/connection/database.ts';
import { endOverdueClaims } from '../store/runs/expire-leases.ts';
import { type Loop, startLoop } from './loop.ts';

const claimsPerRound = 500;
/** A lost machine may have held many tasks: at most this many are logged one by one. */
const loggedPerRound = 50;

export function startLeaseLoop(database: Database, log: Logger): Loop {
  let lastRoundAtMs = Date.now();
  return startLoop('leases', leaseTimes.expireEveryMs, log, async () => {
    // A database that stalls holds this up, and the pause shows: holders then renew before any claim ends.
    await database.query('select 1');
    const paused = Date.now() - lastRoundAtMs > leaseTimes.expirePauseMs;
    lastRoundAtMs = Date.now();
    if (paused) return;
    const claims = await endOverdueClaims(database, claimsPerRound, Math.random);
    for (const { sessionId, ended } of claims.slice(0, loggedPerRound)) {
      const [{ runId, attempt, outcome } = {}] = ended;
      log.info({ sessionId, runId, attempt, outcome }, 'ended a claim whose lease or time limit expired');
    }
    if (claims.length > loggedPerRound) log.info({ claims: claims.length }, 'ended more such claims');
  });
}
