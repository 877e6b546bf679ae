/**
 * Reads that wait for their start, and those under way. The next one is of the caller with the fewest under way, among
 * these of the one whose last start is the longest ago. One caller never has all places, so that another starts at once.
 */
export class CallerQueue {
  readonly #most: number;
  readonly #mostPerCaller: number;
  /** Caller of each read, in the order of arrival. */
  readonly #waiting = new Map<number, string>();
  readonly #running = new Map<number, string>();
  /** When each caller with reads here had the last start, as a number that rises. */
  readonly #startedAt = new Map<string, number>();
  #starts = 0;

  /** @param most reads under way */
  constructor(most: number) {
    this.#most = most;
    this.#mostPerCaller = Math.max(1, most - 1);
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Under way. */
  get running(): readonly number[] {
    return [...this.#running.keys()];
  }

  isRunning(id: number): boolean {
    return this.#running.has(id);
  }

  add(id: number, caller: string): void {
    this.#waiting.set(id, caller);
  }

  /** Starts a read. @returns undefined when none may start */
  next(): number | undefined {
    if (this.#running.size >= this.#most) return undefined;
    const counts = new Map<string, number>();
    for (const caller of this.#running.values()) counts.set(caller, (counts.get(caller) ?? 0) + 1);
    const rankOf = (caller: string) => [counts.get(caller) ?? 0, this.#startedAt.get(caller) ?? 0] as const;
    let best: { readonly id: number; readonly caller: string } | undefined;
    for (const [id, caller] of this.#waiting) {
      const [count, startedAt] = rankOf(caller);
      if (count >= this.#mostPerCaller) continue;
      const [bestCount, bestStartedAt] = best === undefined ? [this.#most, 0] : rankOf(best.caller);
      if (count < bestCount || (count === bestCount && startedAt < bestStartedAt)) best = { id, caller };
    }
    if (best === undefined) return undefined;
    this.#waiting.delete(best.id);
    this.#running.set(best.id, best.caller);
    this.#starts += 1;
    this.#startedAt.set(best.caller, this.#starts);
    return best.id;
  }

  /** It ended. */
  end(id: number): void {
    const caller = this.#running.get(id);
    this.#running.delete(id);
    this.#forget(caller);
  }

  /** It is no longer wanted. One that is under way goes on until its end. */
  leave(id: number): void {
    const caller = this.#waiting.get(id);
    this.#waiting.delete(id);
    this.#forget(caller);
  }

  leaveAll(): void {
    for (const id of [...this.#waiting.keys()]) this.leave(id);
  }

  #forget(caller: string | undefined): void {
    if (caller === undefined) return;
    const isHere = [this.#waiting, this.#running].some((reads) => [...reads.values()].includes(caller));
    if (!isHere) this.#startedAt.delete(caller);
  }
}
