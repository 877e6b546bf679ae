/**
 * The sign-ins of accounts whose claims wait here. Each is checked again every few seconds, once for all of its claims,
 * and its claims end with it. A runner token's calls are cut by its own checks (api/runner-tokens/tokens.ts).
 */
import { access, decideAccess } from '../../../domain/access/access.ts';
import { Problem } from '../../../domain/errors.ts';
import type { AuthClient, Principal } from '../../identity/auth-client.ts';

const checkEveryMs = 2_000;

/** A caller, and the request that the authentication service sees in its log. */
export interface SignedInCall {
  readonly principal: Principal;
  readonly requestId: string;
}

interface WaitingClaim {
  readonly call: SignedInCall;
  readonly ended: AbortController;
}

export class SignIns {
  readonly #auth: Pick<AuthClient, 'identify'>;
  /** By bearer token. */
  readonly #waiting = new Map<string, Set<WaitingClaim>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(auth: Pick<AuthClient, 'identify'>) {
    this.#auth = auth;
  }

  /** Throws the refusal that a new call would get. */
  async check({ principal, requestId }: SignedInCall): Promise<void> {
    const person = await this.#auth.identify(principal.bearer, requestId);
    if (person === null) throw new Problem('unauthorized');
    const decision = decideAccess(access.runnerTasks, person);
    if (!decision.allowed) throw new Problem(decision.problem);
  }

  /**
   * The result of a claim's wait; the refusal is thrown when the sign-in ends first.
   * @param wait ends without a result when its signal is aborted
   */
  async during<T>(
    call: SignedInCall,
    signal: AbortSignal,
    wait: (signal: AbortSignal) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const claim = { call, ended: new AbortController() };
    this.#add(claim);
    try {
      const result = await wait(AbortSignal.any([signal, claim.ended.signal]));
      if (result === undefined) claim.ended.signal.throwIfAborted();
      return result;
    } finally {
      this.#remove(claim);
    }
  }

  #add(claim: WaitingClaim): void {
    const { bearer } = claim.call.principal;
    const own = this.#waiting.get(bearer);
    if (own === undefined) this.#waiting.set(bearer, new Set([claim]));
    else own.add(claim);
    this.#timer ??= setInterval(() => this.#checkAll(), checkEveryMs).unref();
  }

  #remove(claim: WaitingClaim): void {
    const { bearer } = claim.call.principal;
    const own = this.#waiting.get(bearer);
    own?.delete(claim);
    if (own?.size === 0) this.#waiting.delete(bearer);
    if (this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #checkAll(): void {
    for (const claims of this.#waiting.values()) {
      const [first] = claims;
      this.check(first!.call).catch((error: unknown) => {
        // Without an answer they wait on: none of them gets a task before another check.
        if (!(error instanceof Problem) || error.key === 'unavailable') return;
        for (const { ended } of claims) ended.abort(error);
      });
    }
  }
}
