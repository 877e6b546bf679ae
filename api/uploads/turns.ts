/** Work that must not all happen at once, in the order in which it came. */
export class Turns {
  readonly #most: number;
  readonly #mostOfOneKey: number;
  readonly #underWay = new Map<string, number>();
  #total = 0;
  #waiting: { readonly key: string; readonly start: () => void }[] = [];

  /** @param most pieces of work at once; @param mostOfOneKey of those that have the same key */
  constructor(most: number, mostOfOneKey: number = most) {
    this.#most = most;
    this.#mostOfOneKey = mostOfOneKey;
  }

  /** Runs `work` when it is its turn. A key that is busy does not hold up others. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    if (this.#isFree(key)) this.#take(key);
    else await new Promise<void>((start) => this.#waiting.push({ key, start }));
    try {
      return await work();
    } finally {
      this.#give(key);
    }
  }

  #isFree(key: string): boolean {
    return this.#total < this.#most && (this.#underWay.get(key) ?? 0) < this.#mostOfOneKey;
  }

  #take(key: string): void {
    this.#total += 1;
    this.#underWay.set(key, (this.#underWay.get(key) ?? 0) + 1);
  }

  #give(key: string): void {
    this.#total -= 1;
    const left = (this.#underWay.get(key) ?? 1) - 1;
    if (left === 0) this.#underWay.delete(key);
    else this.#underWay.set(key, left);
    const at = this.#waiting.findIndex((one) => this.#isFree(one.key));
    const [next] = at < 0 ? [] : this.#waiting.splice(at, 1);
    if (next === undefined) return;
    this.#take(next.key);
    next.start();
  }
}
