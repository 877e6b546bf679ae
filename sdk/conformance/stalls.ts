/** Times during which this process was stalled, which must not count against a runner. */
const tickMs = 50;
/** How late a timer may be without a stall. */
const jitterMs = 50;

export class Stalls {
  readonly #stalls: { readonly fromMs: number; readonly toMs: number }[] = [];
  readonly #timer: NodeJS.Timeout;
  #lastMs = performance.now();
  #isOver = false;

  constructor() {
    this.#timer = setInterval(() => this.#note(), tickMs).unref();
  }

  /** After a stall other timers may run before this one: a question notes the stall too. */
  #note(): void {
    if (this.#isOver) return;
    const now = performance.now();
    if (now - this.#lastMs > tickMs + jitterMs)
      this.#stalls.push({ fromMs: this.#lastMs + tickMs, toMs: now });
    this.#lastMs = now;
  }

  get maxMs(): number {
    this.#note();
    return Math.max(0, ...this.#stalls.map(({ fromMs, toMs }) => toMs - fromMs));
  }

  /** How much of a stretch of time this process was stalled. */
  within(fromMs: number, toMs: number): number {
    this.#note();
    return this.#stalls.reduce(
      (sum, stall) => sum + Math.max(0, Math.min(toMs, stall.toMs) - Math.max(fromMs, stall.fromMs)),
      0,
    );
  }

  /** How long this process has run since then. */
  ranMs(sinceMs: number): number {
    const now = performance.now();
    return now - sinceMs - this.within(sinceMs, now);
  }

  stop(): void {
    this.#note();
    clearInterval(this.#timer);
    this.#isOver = true;
  }
}
