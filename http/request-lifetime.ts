/** The lifetime of one call: it may be cut short by its caller, who hangs up, or by us, with a refusal. */
import { Problem } from '../domain/errors.ts';

export class RequestLifetime {
  readonly #over = new AbortController();
  readonly #breakOff: () => void;
  readonly #atEnd: (() => void)[] = [];
  #refusal: Problem | undefined;
  #isEnded = false;

  /** @param breakOff ends a reply that is already being sent */
  constructor(breakOff: () => void = () => undefined) {
    this.#breakOff = breakOff;
  }

  /** Aborted when the call is cut short. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** The reason for cutting the call short; it is the answer when nothing has been sent yet. */
  get refusal(): Problem | undefined {
    return this.#refusal;
  }

  /** For what waited: throws when the call was cut short meanwhile. No answer to a caller that is gone is ever read. */
  throwIfCut(): void {
    if (this.#over.signal.aborted) throw this.#refusal ?? new Problem('malformedRequest');
  }

  /** The caller is gone. */
  hangUp(): void {
    this.#over.abort();
  }

  /** Ends the call from our side, whatever it is doing. */
  cut(refusal: Problem): void {
    if (this.#isEnded || this.#over.signal.aborted) return;
    this.#refusal = refusal;
    this.#over.abort(refusal);
    this.#breakOff();
  }

  /** Runs when the call is over, whatever its result. */
  onEnd(work: () => void): void {
    if (this.#isEnded) work();
    else this.#atEnd.push(work);
  }

  /** The reply was sent, or the caller is gone. */
  end(): void {
    this.#isEnded = true;
    for (const work of this.#atEnd.splice(0)) work();
  }
}
