/** Open calls with runner tokens, so that no call outlives its token (decisions 9). */
import type { Problem } from '../../domain/errors.ts';
import type { RequestLifetime } from '../../http/request-lifetime.ts';

export class OpenCalls {
  readonly #lives = new Map<string, Set<RequestLifetime>>();

  /** Until the call is over. */
  add(tokenId: string, life: RequestLifetime): void {
    const own = this.#lives.get(tokenId) ?? new Set();
    this.#lives.set(tokenId, own);
    own.add(life);
    life.onEnd(() => {
      own.delete(life);
      if (own.size === 0 && this.#lives.get(tokenId) === own) this.#lives.delete(tokenId);
    });
  }

  /** Tokens with open calls. */
  get tokenIds(): readonly string[] {
    return [...this.#lives.keys()];
  }

  /** Open calls. */
  get count(): number {
    return [...this.#lives.values()].reduce((sum, own) => sum + own.size, 0);
  }

  /** Ends the open calls of a token. */
  cut(tokenId: string, refusal: Problem): void {
    for (const life of this.#lives.get(tokenId) ?? []) life.cut(refusal);
  }
}
