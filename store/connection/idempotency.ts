/** The platform's idempotency keys (domain/access/idempotency.ts): the transaction that makes something marks its call's key. */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type KeyHold,
  type KeyLedger,
  type KeyState,
  keyStatements,
  keySweepBatch,
} from '../../domain/access/idempotency.ts';
import { Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { isRefusal, sqlStates } from '../../domain/network/database-fault.ts';
import { dropAudit, unaudited } from './audit-scope.ts';
import type { Database, Queryable, Tx } from './database.ts';
import { failpoint } from './failpoint.ts';
import { idOf } from './ids.ts';

const statements = keyStatements('idempotency_key');
const holds = new AsyncLocalStorage<KeyHold>();
const acquireTries = 3;
const renewEveryMs = (limits.idempotencyKeyLeaseSeconds * 1_000) / 3;

/**
 * The work of the transaction in which a call creates something. Under an idempotency key it is done once: its result
 * is committed with the key, and a repeat whose first answer got lost gets that result without doing the work.
 * @param isMade false for a result that made nothing, which is a refusal
 */
export function oncePerKey<W extends Tx, T>(
  work: (tx: W) => Promise<T>,
  isMade: (result: T) => boolean = () => true,
): (tx: W) => Promise<T> {
  const hold = holds.getStore();
  if (hold === undefined) return work;
  const { made } = hold;
  if (made !== null) {
    dropAudit();
    return async () => made.result as T;
  }
  return async (tx) => {
    const result = await work(tx);
    if (isMade(result)) await markMade(tx, hold, result);
    return result;
  };
}

async function markMade(tx: Tx, hold: KeyHold, result: unknown): Promise<void> {
  const { caller, keyDigest, holder, body, isSecret } = hold;
  const marked = await tx.query(statements.made, [
    caller,
    keyDigest,
    holder,
    isSecret ? null : hold.sealResult(result),
    body?.sha256 ?? null,
    body?.sizeBytes ?? null,
  ]);
  // This process stalled for longer than its lease, and another request holds the key.
  if (marked.length === 0) throw new Problem('idempotencyKeyBusy', { headers: { 'retry-after': '1' } });
}

/** Runs work that is no part of what the call's key makes. */
export function withoutKey<T>(work: () => T): T {
  return holds.exit(work);
}

/** Whether this call makes something under a key, which takes a transaction. */
export function hasKey(): boolean {
  return holds.getStore() !== undefined;
}

/** The id of what this call's key makes, also when the platform no longer remembers the key; null without a key. */
export function idUnderKey(): string | null {
  const hold = holds.getStore();
  return hold === undefined ? null : idOf(`${hold.caller} ${Buffer.from(hold.keyDigest).toString('hex')}`);
}

/** Whether this call's key has already made something, so that checks against making it again do not apply. */
export function isMadeAlready(): boolean {
  return (holds.getStore()?.made ?? null) !== null;
}

/**
 * Reports the digest of a streamed body before anything is made from it.
 * @throws Problem `idempotencyKeyReused` for another body than that under the same key
 */
export function noteKeyedBody({
  sha256,
  sizeBytes,
}: {
  readonly sha256: string;
  readonly sizeBytes: number;
}) {
  const hold = holds.getStore();
  if (hold === undefined) return;
  if (hold.body !== null && hold.body.sha256 !== sha256) throw new Problem('idempotencyKeyReused');
  hold.body = { sha256, sizeBytes };
}

/** The keys of one process, whose leases it renews while their requests are under way. */
export class IdempotencyKeys implements KeyLedger {
  readonly #database: Database;
  readonly #held = new Set<KeyHold>();
  #timer: NodeJS.Timeout | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  async acquire(hold: KeyHold): Promise<KeyState | undefined> {
    const { caller, keyDigest, requestDigest, holder } = hold;
    for (let tries = 1; tries <= acquireTries; tries++) {
      const state = await this.#ask(statements.acquire, [caller, keyDigest, requestDigest, holder]);
      // None: another request has acquired the key after this statement began.
      if (state === undefined) continue;
      if (state.isHeld) this.#begin(hold);
      if (state.reply !== null) dropAudit();
      return state;
    }
    return undefined;
  }

  async #ask(statement: string, values: readonly unknown[]): Promise<KeyState | undefined> {
    try {
      const [state] = await unaudited(() => this.#database.query<KeyState>(statement, values));
      return state;
    } catch (error) {
      if (isRefusal(error, sqlStates.lockNotAvailable)) return undefined;
      throw error;
    }
  }

  within<T>(hold: KeyHold, work: () => Promise<T>): Promise<T> {
    return holds.run(hold, work);
  }

  async keep(hold: KeyHold, reply: Uint8Array): Promise<void> {
    await failpoint('key-made');
    const { caller, keyDigest, holder, body } = hold;
    const values = [caller, keyDigest, holder, reply, body?.sha256 ?? null, body?.sizeBytes ?? null];
    await this.#end(hold, statements.keep, values);
  }

  async release(hold: KeyHold): Promise<void> {
    await this.#end(hold, statements.release, [hold.caller, hold.keyDigest, hold.holder]);
  }

  /** The result is already committed: where this fails the lease expires, and a repeat makes a new reply. */
  async #end(hold: KeyHold, statement: string, values: readonly unknown[]): Promise<void> {
    this.#held.delete(hold);
    if (this.#held.size === 0) this.close();
    await unaudited(() => this.#database.query(statement, values)).catch(() => undefined);
  }

  #begin(hold: KeyHold): void {
    this.#held.add(hold);
    this.#timer ??= unaudited(() => setInterval(() => void this.#renew(), renewEveryMs).unref());
  }

  async #renew(): Promise<void> {
    const held = [...this.#held];
    await this.#database
      .query(statements.renew, [
        held.map(({ caller }) => caller),
        held.map(({ keyDigest }) => keyDigest),
        held.map(({ holder }) => holder),
      ])
      // The next one still comes in time.
      .catch(() => undefined);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** Removes expired keys. @returns their number */
export async function sweepIdempotencyKeys(database: Queryable): Promise<number> {
  for (let removed = 0; ; ) {
    const batch = (await database.query(statements.sweep)).length;
    removed += batch;
    if (batch < keySweepBatch) return removed;
  }
}
