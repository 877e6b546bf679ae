/**
 * One request at a time for one match key (decisions 6; architecture 10), over all processes: a try-lock of the
 * transaction, each try a transaction of its own, so that nobody waits on a connection. Requests of one process queue
 * here first, in their order, so that a crowd does not try all at once.
 */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database, Tx } from './database.ts';

/** The key was busy for the whole time. */
export const keyBusy = Symbol('match key busy');

const pauseMs = { least: 5, most: 20 } as const;
/** Not had within their own time-outs: a row of the session, or this process was too slow between statements. */
const busyCodes = new Set(['55P03', '25P03']);

// A connection in these transactions dies soon after its owner, and the lock with it.
const tryLock = `
  select set_config('idle_in_transaction_session_timeout', '5s', true),
         set_config('client_connection_check_interval', '1s', true),
         pg_try_advisory_xact_lock($1::bigint) as locked`;

/**
 * Runs `work` in a transaction that holds the key; {@link keyBusy} when that could not begin within `waitMs`.
 * @param keyText see `matchKeyText`
 */
export async function withMatchKey<T>(
  database: Database,
  keyText: string,
  waitMs: number,
  work: (tx: Tx) => Promise<T>,
): Promise<T | typeof keyBusy> {
  const untilMs = performance.now() + waitMs;
  const leave = await queueUp(database, keyText, waitMs);
  if (leave === undefined) return keyBusy;
  try {
    return await tryUntil(database, lockNumber(keyText), untilMs, work);
  } catch (error) {
    if (busyCodes.has((error as { code?: string }).code ?? '')) return keyBusy;
    throw error;
  } finally {
    leave();
  }
}

async function tryUntil<T>(
  database: Database,
  lock: string,
  untilMs: number,
  work: (tx: Tx) => Promise<T>,
): Promise<T | typeof keyBusy> {
  for (;;) {
    const done = await database.transaction(async (tx) => {
      const [row] = await tx.query<{ locked: boolean }>(tryLock, [lock]);
      return row?.locked ? { result: await work(tx) } : undefined;
    });
    if (done !== undefined) return done.result;
    if (performance.now() >= untilMs) return keyBusy;
    await delay(pauseMs.least + Math.random() * (pauseMs.most - pauseMs.least));
  }
}

/** The key as a number for an advisory lock; two keys that share one by chance only wait for each other. */
function lockNumber(keyText: string): string {
  return createHash('sha256').update(keyText).digest().readBigInt64BE().toString();
}

/** The end of each key's queue in this process. */
const queues = new WeakMap<Database, Map<string, Promise<void>>>();

/** Waits for those before; gives the function that lets the next go on, or undefined when it took too long. */
async function queueUp(
  database: Database,
  keyText: string,
  waitMs: number,
): Promise<(() => void) | undefined> {
  const ends = queues.get(database) ?? new Map<string, Promise<void>>();
  queues.set(database, ends);
  const before = ends.get(keyText);
  let leave = () => {};
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const end = (before ?? Promise.resolve()).then(() => left);
  ends.set(keyText, end);
  void end.then(() => {
    if (ends.get(keyText) === end) ends.delete(keyText);
  });
  if (before === undefined) return leave;
  const giveUp = new AbortController();
  const late = delay(waitMs, true, { signal: giveUp.signal }).catch(() => true);
  const isLate = await Promise.race([before.then(() => false), late]);
  giveUp.abort();
  if (!isLate) return leave;
  leave();
  return undefined;
}
