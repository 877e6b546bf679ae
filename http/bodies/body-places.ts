/**
 * Places for JSON bodies that are being read: each is held in memory until its last byte has come, which a slow caller
 * puts off for minutes. Small ones need none, since connections are bounded; all that the platform itself sends without a
 * person's token is small.
 */
import { Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';

export class BodyPlaces {
  /** By caller. A caller without open bodies has no entry. */
  readonly #byCaller = new Map<string, number>();
  #ofCallers = 0;
  /** Callers without a token cannot be distinguished here, and none of their routes needs a large body. */
  #ofStrangers = 0;

  /**
   * @param caller null for a call without a token
   * @param declaredBytes null for an unknown length
   * @returns a function that releases the place, to be called once
   * @throws Problem `unavailable`
   */
  acquire(caller: string | null, declaredBytes: number | null): () => void {
    if (declaredBytes !== null && declaredBytes <= limits.jsonBodySmallBytes) return () => undefined;
    return caller === null ? this.#acquireForStranger() : this.#acquireFor(caller);
  }

  #acquireForStranger(): () => void {
    if (this.#ofStrangers >= limits.jsonBodiesAtOnceWithoutToken) throw refusal();
    this.#ofStrangers += 1;
    return () => {
      this.#ofStrangers -= 1;
    };
  }

  #acquireFor(caller: string): () => void {
    const own = this.#byCaller.get(caller) ?? 0;
    const isFull = this.#ofCallers >= limits.jsonBodiesAtOnce || own >= limits.jsonBodiesAtOncePerCaller;
    if (isFull) throw refusal();
    this.#add(caller, 1);
    return () => this.#add(caller, -1);
  }

  #add(caller: string, by: 1 | -1): void {
    this.#ofCallers += by;
    const own = (this.#byCaller.get(caller) ?? 0) + by;
    if (own === 0) this.#byCaller.delete(caller);
    else this.#byCaller.set(caller, own);
  }
}

const refusal = () =>
  new Problem('unavailable', { headers: { 'retry-after': String(limits.shareRetryAfterSeconds) } });
