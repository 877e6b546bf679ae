/** Open calls by their token, so that no call outlives it (decisions 9). */
import type { Problem } from '../../domain/errors.ts';
import type { RequestLifetime } from '../../http/request-lifetime.ts';

/** A call that is under way. */
export interface OpenCall {
  readonly life: RequestLifetime;
}

export class OpenCalls<Held extends OpenCall = OpenCall> {
  readonly #calls = new Map<string, Set<Held>>();

  /** Until the call is over. */
  add(token: string, call: Held): void {
    const own = this.#calls.get(token) ?? new Set();
    this.#calls.set(token, own);
    own.add(call);
    call.life.onEnd(() => {
      own.delete(call);
      if (own.size === 0 && this.#calls.get(token) === own) this.#calls.delete(token);
    });
  }

  /** Tokens with open calls. */
  get tokens(): readonly string[] {
    return [...this.#calls.keys()];
  }

  /** Open calls of a token. */
  of(token: string): readonly Held[] {
    return [...(this.#calls.get(token) ?? [])];
  }

  get isEmpty(): boolean {
    return this.#calls.size === 0;
  }

  /** Open calls. */
  get count(): number {
    return [...this.#calls.values()].reduce((sum, own) => sum + own.size, 0);
  }

  /** Ends the open calls of a token. */
  cut(token: string, refusal: Problem): void {
    for (const { life } of this.of(token)) life.cut(refusal);
  }
}
