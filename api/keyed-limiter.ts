/** Limits concurrent work, in all and for each key; the rest waits in order of arrival. */
export class KeyedLimiter {
  readonly #most: number;
  readonly #maxOfOneKey: number;
  readonly #underWay = new Map<string, number>();
  #total = 0;
  readonly #endsWait: (error: unknown) => boolean;
  #waiting: { readonly key: string; readonly start: () => void; readonly fail: (error: unknown) => void }[] =
    [];

  /**
   * @param most concurrent pieces of work
   * @param maxOfOneKey of those with the same key
   * @param endsWait whether all that waits would fail of the same error: it then does so at once
   */
  constructor(most: number, maxOfOneKey: number = most, endsWait = (_error: unknown) => false) {
    this.#most = most;
    this.#maxOfOneKey = maxOfOneKey;
    this.#endsWait = endsWait;
  }

  /** Runs `work` when there is room for it. A key that is busy does not hold up others. */
  async run<T>(work: () => Promise<T>, key = ''): Promise<T> {
    if (this.#isFree(key)) this.#acquire(key);
    else await new Promise<void>((start, fail) => this.#waiting.push({ key, start, fail }));
    try {
      return await work();
    } catch (error) {
      if (this.#endsWait(error)) for (const { fail } of this.#waiting.splice(0)) fail(error);
      throw error;
    } finally {
      this.#release(key);
    }
  }

  #isFree(key: string): boolean {
    return this.#total < this.#most && (this.#underWay.get(key) ?? 0) < this.#maxOfOneKey;
  }

  #acquire(key: string): void {
    this.#total += 1;
    this.#underWay.set(key, (this.#underWay.get(key) ?? 0) + 1);
  }

  #release(key: string): void {
    this.#total -= 1;
    const left = (this.#underWay.get(key) ?? 1) - 1;
    if (left === 0) this.#underWay.delete(key);
    else this.#underWay.set(key, left);
    const at = this.#waiting.findIndex((one) => this.#isFree(one.key));
    const [next] = at < 0 ? [] : this.#waiting.splice(at, 1);
    if (next === undefined) return;
    this.#acquire(next.key);
    next.start();
  }
}
