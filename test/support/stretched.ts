import { availableParallelism, loadavg } from 'node:os';

/** What the suite itself costs beside a test. */
const least = 3;

/**
 * A limit of the time by the clock, for a machine on which processes wait for a processor: as many times as long as they
 * wait. Call it when the time is over. Only where there is no condition to wait for: where promptness is the guarantee.
 */
export function stretched(limit: number): number {
  return limit * Math.max(least, (2 * loadavg()[0]!) / availableParallelism());
}
