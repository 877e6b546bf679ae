/** Work that waits for a database that is away, because its caller would have to send much again. */
import { limits } from '../../domain/limits.ts';
import { isDatabaseAway } from '../../domain/network/database-fault.ts';
import { withRetries } from './with-retries.ts';

/** A process that was itself stopped for longer than the whole wait still tries so often. */
const minTries = 3;

/**
 * Does work again while the database is away: after a restart it is back within seconds.
 * @param signal after it aborted nothing is tried again
 */
export function whenDatabaseReturns<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const untilMs = performance.now() + limits.uploadDatabaseWaitSeconds * 1_000;
  let tries = 0;
  const mayPass = (error: unknown) => {
    tries += 1;
    return isDatabaseAway(error) && (tries < minTries || performance.now() < untilMs);
  };
  const policy = { maxTries: Number.POSITIVE_INFINITY, firstPauseMs: 200, maxPauseMs: 1_000, mayPass };
  return withRetries(policy, work, signal);
}
