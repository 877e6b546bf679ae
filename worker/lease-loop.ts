/** Ends claims whose lease or time is over, so that their work is claimable again within seconds. */
import type { Logger } from 'pino';
import type { Database } from '../store/database.ts';
import { endOverdueClaims } from '../store/leases.ts';
import type { WorkflowClient } from '../workflows/client.ts';
import { type Loop, startLoop } from './loop.ts';

const everyMs = 2_000;
const claimsPerRound = 500;
/** A lost machine may have held many tasks: the log tells of so many one by one. */
const toldPerRound = 50;
/** After a pause as long as this (database or process stopped) holders get a moment to renew before leases end. */
const pauseMs = 5_000;

export function startLeaseLoop(database: Database, workflows: WorkflowClient, log: Logger): Loop {
  let lastRoundAtMs = Date.now();
  return startLoop('leases', everyMs, log, async () => {
    await database.query('select 1');
    const paused = Date.now() - lastRoundAtMs > pauseMs;
    lastRoundAtMs = Date.now();
    if (paused) return;
    const effects = await endOverdueClaims(database, claimsPerRound, Math.random);
    for (const effect of effects) workflows.afterCommit(effect);
    for (const { session, ended } of effects.slice(0, toldPerRound)) {
      const [{ runId, attempt, outcome } = {}] = ended;
      log.info(
        { sessionId: session.sessionId, runId, attempt, outcome },
        'ended a claim whose lease or time was over',
      );
    }
    if (effects.length > toldPerRound) log.info({ claims: effects.length }, 'ended more such claims');
  });
}
