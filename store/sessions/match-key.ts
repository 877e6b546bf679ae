/**
 * One transaction at a time handles a match key (decisions 6; architecture 10), over all processes: a try-lock of the
 * transaction, each try a transaction of its own, so that no request holds a connection while it waits. Requests of one
 * process queue here first; waiting ones run one after the other in one transaction, so that a crowd finishes soon.
 */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isRefusal, sqlStates } from '../../domain/network/database-fault.ts';
import { unaudited } from '../connection/audit-scope.ts';
import type { Database, Tx } from '../connection/database.ts';

/** The key was busy for the whole time. */
export const keyBusy = Symbol('match key busy');

const pauseMs = { least: 5, most: 20 } as const;
/** Requests handled in one transaction. */
const maxTogether = 50;

// A connection in these transactions dies soon after its owner, and the lock with it. Servers on Windows cannot check
// their clients, and refuse the setting.
const tryLock = `
  select set_config('idle_in_transaction_session_timeout', '5s', true),
         case when version() !~* 'windows|mingw|visual c'
              then set_config('client_connection_check_interval', '1s', true) end,
         pg_try_advisory_xact_lock($1::bigint) as locked`;

/** A queued request: it waits for its turn, or for the end of its transaction. */
interface Waiting {
  readonly work: (tx: Tx) => Promise<unknown>;
  readonly settle: (result: unknown) => void;
  readonly fail: (error: unknown) => void;
  isLate: boolean;
}

/** The queues of this process, by key; a queue exists while it is served. */
const lines = new WeakMap<Database, Map<string, Waiting[]>>();

/**
 * Runs `work` in a transaction that holds the key; {@link keyBusy} when it could not begin within `waitMs`. The
 * transaction may be shared and may be tried again, so `work` must be free of effects outside the database.
 * @param keyText see `matchKeyText`
 */
export function withMatchKey<T>(
  database: Database,
  keyText: string,
  waitMs: number,
  work: (tx: Tx) => Promise<T>,
): Promise<T | typeof keyBusy> {
  const own = lines.get(database) ?? new Map<string, Waiting[]>();
  lines.set(database, own);
  return new Promise((resolve, reject) => {
    const line = own.get(keyText);
    const waiting = waitInLine(line ?? [], waitMs, {
      work,
      settle: resolve as Waiting['settle'],
      fail: reject,
    });
    if (line !== undefined) return;
    own.set(keyText, waiting);
    // Its transactions serve other requests too: each request's work carries its own audit entry.
    void unaudited(() => serve(database, matchKeyLock(keyText), waiting, () => own.delete(keyText)));
  });
}

/** Puts a request at the end of the queue; it leaves when its time is over. */
function waitInLine(
  line: Waiting[],
  waitMs: number,
  request: Pick<Waiting, 'work' | 'settle' | 'fail'>,
): Waiting[] {
  const timer = setTimeout(() => {
    waiting.isLate = true;
    const place = line.indexOf(waiting);
    if (place >= 0) line.splice(place, 1);
    if (place >= 0) request.settle(keyBusy);
  }, waitMs);
  const waiting: Waiting = {
    work: request.work,
    settle(result) {
      clearTimeout(timer);
      request.settle(result);
    },
    fail(error) {
      clearTimeout(timer);
      request.fail(error);
    },
    isLate: false,
  };
  line.push(waiting);
  return line;
}

/**
 * Serves a queue until it is empty. Never throws: each request gets its own answer.
 * @param close called as soon as the queue is empty: a later request begins a new one
 */
async function serve(database: Database, lock: string, line: Waiting[], close: () => void): Promise<void> {
  // After a failure the requests that failed together run one by one, so that each fails only for its own reason.
  let alone = 0;
  while (line.length > 0) {
    const together = line.splice(0, alone > 0 ? 1 : maxTogether);
    alone = Math.max(0, alone - 1);
    const outcome = await tryTogether(database, lock, together);
    if (outcome === 'done') continue;
    if (outcome === 'failed') alone = together.length;
    const back = together.filter((waiting) => !waiting.isLate);
    for (const waiting of together) if (waiting.isLate) waiting.settle(keyBusy);
    line.unshift(...back);
    if (outcome === 'busy') await delay(pauseMs.least + Math.random() * (pauseMs.most - pauseMs.least));
  }
  close();
}

/** `failed`: none has an answer yet, and each must be tried alone. */
async function tryTogether(
  database: Database,
  lock: string,
  together: readonly Waiting[],
): Promise<'done' | 'busy' | 'failed'> {
  try {
    const results = await database.transaction(async (tx) => {
      const [row] = await tx.query<{ locked: boolean }>(tryLock, [lock]);
      if (!row?.locked) return undefined;
      const done: unknown[] = [];
      for (const { work } of together) done.push(await work(tx));
      return done;
    });
    if (results === undefined) return 'busy';
    for (const [place, waiting] of together.entries()) waiting.settle(results[place]);
  } catch (error) {
    if (together.length > 1) return 'failed';
    // Time-outs: of the wait for a row of the session, or between statements of a slow process.
    const isBusy =
      isRefusal(error, sqlStates.lockNotAvailable) || isRefusal(error, sqlStates.idleInTransactionTimeout);
    for (const waiting of together) {
      if (isBusy) waiting.settle(keyBusy);
      else waiting.fail(error);
    }
  }
  return 'done';
}

/** The key as a number for an advisory lock; two keys that share one by chance only wait for each other. */
export function matchKeyLock(keyText: string): string {
  return createHash('sha256').update(keyText).digest().readBigInt64BE().toString();
}
