const reconcilesASecond = 10;
/** Operators see within it what has ended. The alert for forgotten sessions counts from the time of the next reconcile. */
const maxMs = 60_000;

/**
 * The sessions that this process reconciles again after a while. Of a thousand that move slowly, each would be
 * reconciled several times for each of its runs, and each run awaited, at several times its cost. The runs do not wait
 * for it: what has ended is only reported later.
 */
export class ReconcilePace {
  /** When sessions were last reconciled, in this order. */
  readonly #atMs = new Map<string, number>();

  /** The least time between two reconciles of a session: the more of them, the longer. */
  sharedMs(nowMs: number = performance.now()): number {
    for (const [id, atMs] of this.#atMs) {
      if (nowMs - atMs <= maxMs) break;
      this.#atMs.delete(id);
    }
    return Math.min(maxMs, (this.#atMs.size * 1_000) / reconcilesASecond);
  }

  /** The session was reconciled. @param again it will be, by itself */
  note(sessionId: string, again: boolean, nowMs: number = performance.now()): void {
    this.#atMs.delete(sessionId);
    if (again) this.#atMs.set(sessionId, nowMs);
  }
}
