const leastMs = 5_000;
/** Operators see within it what has ended; sessions that are wanted for a minute raise an alert. */
const mostMs = 30_000;
const reconcilesASecond = 10;

/**
 * The sessions with long queues that this process reconciles. Of a thousand that move slowly, each would be reconciled
 * as often as its runs end, at several times their cost. The runs do not wait for it: what ended is only reported later.
 */
export class LongQueues {
  /** By session, in this order. */
  readonly #reconciledAtMs = new Map<string, number>();

  /** Counts a reconcile of such a session. @returns the time to its next one: the more sessions, the longer */
  intervalMs(sessionId: string, nowMs: number = performance.now()): number {
    this.#reconciledAtMs.delete(sessionId);
    this.#reconciledAtMs.set(sessionId, nowMs);
    for (const [id, atMs] of this.#reconciledAtMs) {
      if (nowMs - atMs <= mostMs) break;
      this.#reconciledAtMs.delete(id);
    }
    const sharedMs = (this.#reconciledAtMs.size * 1_000) / reconcilesASecond;
    return Math.min(mostMs, Math.max(leastMs, sharedMs));
  }
}
