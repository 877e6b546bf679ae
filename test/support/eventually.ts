import { setTimeout as delay } from 'node:timers/promises';
import { type PlatformState, readPlatformState } from '../../store/administration/platform-state.ts';
import type { Database } from '../../store/connection/database.ts';

/** Only how late a failure is told: on a busy machine everything may take many times as long as on a quiet one. */
export const patienceMs = 100_000;

/** Checks take processor time from what they wait for, so those of a long wait are further apart. */
const shortestPauseMs = 25;
const longestPauseMs = 100;

/**
 * Waits until `check` returns something truthy, and returns it. What `check` throws counts as "not yet" and is reported
 * when the time is over.
 */
export async function eventually<T>(
  what: string,
  check: () => Promise<T> | T,
  limitMs = patienceMs,
): Promise<Exclude<T, undefined | null | false>> {
  const startedAt = Date.now();
  let last: unknown;
  for (;;) {
    try {
      last = await check();
      if (last) return last as Exclude<T, undefined | null | false>;
    } catch (error) {
      last = error;
    }
    const waitedMs = Date.now() - startedAt;
    if (waitedMs > limitMs) throw new Error(`Not within ${limitMs} ms: ${what}`, { cause: last });
    await delay(Math.min(Math.max(shortestPauseMs, waitedMs / 8), longestPauseMs));
  }
}

/** Waits until so many statements of this database wait for locks that other transactions have. */
export async function statementsWait(database: Pick<Database, 'query'>, atLeast = 1): Promise<void> {
  const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await eventually(
    'statements wait for locks',
    async () => (await database.query(waiting)).length >= atLeast,
  );
}

/** What operators watch. The read gives up where the database needs longer than a scrape waits, as on a busy machine. */
export function platformState(database: Database): Promise<PlatformState> {
  return eventually('the state is read', () => readPlatformState(database));
}
