import { setTimeout as delay } from 'node:timers/promises';

/** Only how late a failure is told: on a busy machine everything may take many times as long as on a quiet one. */
export const patienceMs = 100_000;

/**
 * Waits until `check` returns something truthy, and returns it. What `check` throws counts as "not yet" and is reported
 * when the time is over.
 */
export async function eventually<T>(
  what: string,
  check: () => Promise<T> | T,
  limitMs = patienceMs,
): Promise<Exclude<T, undefined | null | false>> {
  const until = Date.now() + limitMs;
  let last: unknown;
  for (;;) {
    try {
      last = await check();
      if (last) return last as Exclude<T, undefined | null | false>;
    } catch (error) {
      last = error;
    }
    if (Date.now() > until) throw new Error(`Not within ${limitMs} ms: ${what}`, { cause: last });
    await delay(25);
  }
}
