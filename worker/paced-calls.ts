/** The pause after a call for a key, which doubles while more is asked for in each pause. */
const firstPauseMs = 100;
const lastPauseMs = 3_200;

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
    if (recent === undefined) this.#callWithPause(key, firstPauseMs);
    else recent.isWanted = true;
  }

  /** Leaves out what was still to be called. */
  stop(): void {
    for (const { timer } of this.#recent.values()) clearTimeout(timer);
    this.#recent.clear();
  }

  #callWithPause(key: string, pauseMs: number): void {
    const timer = setTimeout(() => {
      const { isWanted } = this.#recent.get(key)!;
      this.#recent.delete(key);
      if (isWanted) this.#callWithPause(key, Math.min(2 * pauseMs, lastPauseMs));
    }, pauseMs);
    this.#recent.set(key, { timer, isWanted: false });
    this.#call(key);
  }
}
