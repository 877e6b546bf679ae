/** Removes runner instances that were not seen for long, and runner tokens that ended long ago. */
import type { Logger } from 'pino';
import type { Database } from '../store/connection/database.ts';
import { sweepRunnerTokens } from '../store/runners/ended-tokens.ts';
import { sweepRunnerInstances } from '../store/runners/runner-instances.ts';
import { type Loop, startLoop } from './loop.ts';

const everyMs = 10 * 60_000;

/** Safe in several processes at once. */
export function startRunnerSweeper(database: Database, log: Logger): Loop {
  return startLoop('runner sweeper', everyMs, log, async () => {
    const instances = await sweepRunnerInstances(database);
    const tokens = await sweepRunnerTokens(database);
    if (instances + tokens > 0)
      log.info({ instances, tokens }, 'removed records of runners that are long gone');
  });
}
