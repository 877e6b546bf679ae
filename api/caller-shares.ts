/** Counts the open calls of each caller at this process, and refuses those beyond its share. */
import { createHash } from 'node:crypto';
import type { Caller } from '../domain/access/access.ts';
import { type ShareBounds, type ShareName, shareBounds } from '../domain/access/shares.ts';
import { Problem } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import type { Call } from '../http/call.ts';
import { clientAddress } from '../http/server/client-address.ts';
import type { Principal } from './identity/auth-client.ts';
import type { RunnerPrincipal } from './runner-tokens/principal.ts';

const retryAfter = { 'retry-after': String(limits.shareRetryAfterSeconds) };

export class CallerShares {
  readonly #bounds: Readonly<Record<ShareName, ShareBounds>>;
  readonly #inAll = new Map<ShareName, number>();
  /** By share and caller. A caller without open calls has no entry. */
  readonly #byCaller = new Map<string, number>();

  /** @param bounds other than the product's own, for tests */
  constructor(bounds: Partial<Readonly<Record<ShareName, ShareBounds>>> = {}) {
    this.#bounds = { ...shareBounds, ...bounds };
  }

  /**
   * Counts one more call.
   * @returns a function that stops counting it; safe to call again
   * @throws Problem `unavailable`
   */
  acquire(share: ShareName, caller: string): () => void {
    const key = `${share} ${caller}`;
    const { inAll, perCaller } = this.#bounds[share];
    const isFull = this.count(share) >= inAll || (this.#byCaller.get(key) ?? 0) >= perCaller;
    if (isFull) throw new Problem('unavailable', { headers: retryAfter });
    this.#add(share, key, 1);
    let isHeld = true;
    return () => {
      if (isHeld) this.#add(share, key, -1);
      isHeld = false;
    };
  }

  /** Open calls. */
  count(share: ShareName): number {
    return this.#inAll.get(share) ?? 0;
  }

  #add(share: ShareName, key: string, by: 1 | -1): void {
    this.#inAll.set(share, this.count(share) + by);
    const count = (this.#byCaller.get(key) ?? 0) + by;
    if (count === 0) this.#byCaller.delete(key);
    else this.#byCaller.set(key, count);
  }
}

/**
 * The caller whose share counts: a runner token, a device's offline token, a person with all of their access tokens, or
 * the network address of a caller without an account.
 */
export function shareKeyOf(
  caller: Caller | null,
  call: Pick<Call, 'remoteAddress' | 'headers'>,
  trustedProxies: number,
): string {
  if (caller === null) {
    return `address ${clientAddress(call.remoteAddress, call.headers['x-forwarded-for'], trustedProxies)}`;
  }
  const known = caller as unknown as Principal | RunnerPrincipal;
  if (known.kind === 'runner') return `runner ${known.tokenId}`;
  if (known.kind === 'access') return `person ${known.userId}`;
  // One administrator makes the tokens of all devices.
  return `device ${createHash('sha256').update(known.bearer).digest('base64url')}`;
}
