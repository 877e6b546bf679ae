/** The shortest time between two calls for a key. */
const leastMs = 100;
/** With many keys it is longer: all of them together call a hundred times a second. */
const perKeyMs = 10;

/**
 * Calls for a key at once, and what is asked for soon after with one call a moment later. For notifications that carry
 * nothing, where one stands for all.
 */
export class PacedCalls {
  readonly #call: (key: string) => void;
  /** Keys called a short while ago, and whether they are to be called again. */
  readonly #recent = new Map<string, { readonly timer: NodeJS.Timeout; isWanted: boolean }>();

  constructor(call: (key: string) => void) {
    this.#call = call;
  }

  ask(key: string): void {
    const recent = this.#recent.get(key);
    if (recent !== undefined) {
      recent.isWanted = true;
      return;
    }
    const pauseMs = Math.max(leastMs, (this.#recent.size + 1) * perKeyMs);
    const timer = setTimeout(() => {
      const { isWanted } = this.#recent.get(key)!;
      this.#recent.delete(key);
      if (isWanted) this.ask(key);
    }, pauseMs);
    this.#recent.set(key, { timer, isWanted: false });
    this.#call(key);
  }

  /** Leaves out what was still to be called. */
  stop(): void {
    for (const { timer } of this.#recent.values()) clearTimeout(timer);
    this.#recent.clear();
  }
}
