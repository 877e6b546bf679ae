/** This service's idempotency keys (domain/access/idempotency.ts): the transaction that makes something marks its call's key. */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type KeyHold,
  type KeyLedger,
  type KeyState,
  type KeyStatements,
  keyStatements,
  keySweepBatch,
} from '../domain/access/idempotency.ts';
import { Problem } from '../domain/errors.ts';
import { isRefusal, sqlStates } from '../domain/network/database-fault.ts';
import { type RouteMiddleware, replyAfter } from '../http/call.ts';
import { answerOnce, type KeyKeeper } from '../http/idempotency.ts';
import { keyedDigest } from '../http/token-secret.ts';
import type { AuthDatabase, Runner, Statement } from './database.ts';
import type { AuthCaller } from './route.ts';

const texts = keyStatements('auth.idempotency_key');
const named = (name: keyof KeyStatements): Statement => ({
  name: `idempotency_${name}`,
  text: texts[name],
});
const holds = new AsyncLocalStorage<KeyHold>();
const acquireTries = 3;

/**
 * Wraps the transaction of a creating call: under an idempotency key it runs once, and a repeat after a lost answer
 * gets the first result.
 */
export function oncePerKey<T>(work: (tx: Runner) => Promise<T>): (tx: Runner) => Promise<T> {
  const hold = holds.getStore();
  if (hold === undefined) return work;
  const { made, caller, keyDigest, holder, isSecret } = hold;
  if (made !== null) return async () => made.result as T;
  return async (tx) => {
    const result = await work(tx);
    const sealed = isSecret ? null : hold.sealResult(result);
    const marked = await tx.query(named('made'), [caller, keyDigest, holder, sealed, null, null]);
    if (marked.length === 0) throw new Problem('idempotencyKeyBusy', { headers: { 'retry-after': '1' } });
    return result;
  };
}

/** Calls of this service are far shorter than a lease, so it is not renewed. */
class AuthKeys implements KeyLedger {
  readonly #database: AuthDatabase;

  constructor(database: AuthDatabase) {
    this.#database = database;
  }

  async acquire({ caller, keyDigest, requestDigest, holder }: KeyHold): Promise<KeyState | undefined> {
    try {
      for (let tries = 1; tries <= acquireTries; tries++) {
        const values = [caller, keyDigest, requestDigest, holder];
        const [state] = await this.#database.query<KeyState>(named('acquire'), values);
        if (state !== undefined) return state;
      }
      return undefined;
    } catch (error) {
      if (isRefusal(error, sqlStates.lockNotAvailable)) return undefined;
      throw error;
    }
  }

  within<T>(hold: KeyHold, work: () => Promise<T>): Promise<T> {
    return holds.run(hold, work);
  }

  async keep({ caller, keyDigest, holder }: KeyHold, reply: Uint8Array): Promise<void> {
    await this.#try('keep', [caller, keyDigest, holder, reply, null, null]);
  }

  async release({ caller, keyDigest, holder }: KeyHold): Promise<void> {
    await this.#try('release', [caller, keyDigest, holder]);
  }

  /** The change is committed: if this fails, the lease expires. */
  async #try(name: keyof KeyStatements, values: readonly unknown[]): Promise<void> {
    await this.#database.query(named(name), values).catch(() => undefined);
  }
}

export function authKeyKeeper(database: AuthDatabase, tokenKey: string): KeyKeeper {
  return {
    ledger: new AuthKeys(database),
    keyFrom: (text) => keyedDigest(tokenKey, `idempotent reply\0${text}`),
  };
}

/** The name under which a caller's keys are stored. */
export const callerKey = ({ kind, user }: AuthCaller) => `${kind}:${user.id}`;

export function answeringOnce(keeper: KeyKeeper): RouteMiddleware {
  return ({ id, idempotent }) => {
    if (idempotent === undefined) return undefined;
    return async ({ state }, next) => {
      const { params, query, headers, json } = state;
      const header = headers['idempotency-key'];
      if (header === undefined || state.principal === null) return await next();
      const caller = callerKey(state.principal as AuthCaller);
      const isSecret = idempotent === 'secret';
      const keyed = { routeId: id, caller, header, isSecret, params, query, headers, json, upload: null };
      state.reply = await answerOnce(keeper, keyed, () => replyAfter(state, next));
    };
  };
}

/** Removes keys older than a day. */
export async function sweepKeys(database: AuthDatabase): Promise<void> {
  while ((await database.query(named('sweep'), [])).length === keySweepBatch);
}
