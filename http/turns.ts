/**
 * Lets calls that can wait go one after the other, with a pause after each that is as long as its work took: however many
 * they are, they take about half of the process's time at most, and all other calls are served between them.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/** Below this a pause by the clock would be longer than the work. */
const minPauseMs = 1;

/** Work that is done one piece after the other. Callers come in turn, and those of one in the order in which they came. */
export class Turns {
  /** By caller, the next one first. A caller for whom nothing waits has no entry. */
  readonly #waiting = new Map<string, Set<() => void>>();
  #isServing = false;

  /**
   * Resolves when no other piece of work is done.
   * @param signal ends the wait; it resolves at once then, and takes no turn
   */
  wait(caller = '', signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const start = () => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        this.#remove(caller, start);
        resolve();
      };
      signal?.addEventListener('abort', leave, { once: true });
      const own = this.#waiting.get(caller);
      if (own === undefined) this.#waiting.set(caller, new Set([start]));
      else own.add(start);
      if (!this.#isServing) void this.#serve();
    });
  }

  async #serve(): Promise<void> {
    this.#isServing = true;
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const startedAtMs = performance.now();
      next();
      // What the call does without waiting is done when the event loop turns.
      await nextTurn();
      const tookMs = performance.now() - startedAtMs;
      if (tookMs >= minPauseMs) await sleep(tookMs);
    }
    this.#isServing = false;
  }

  /** Its caller comes again after all others. */
  #next(): (() => void) | undefined {
    for (const [caller, own] of this.#waiting) {
      const [next] = own;
      if (next === undefined) continue;
      this.#remove(caller, next);
      if (own.size > 0) {
        this.#waiting.delete(caller);
        this.#waiting.set(caller, own);
      }
      return next;
    }
    return undefined;
  }

  #remove(caller: string, start: () => void): void {
    const own = this.#waiting.get(caller);
    if (own?.delete(start) === true && own.size === 0) this.#waiting.delete(caller);
  }
}

const turns = new Turns();

/** Resolves when no other such call is at work; first come, first served. */
export function ownTurn(): Promise<void> {
  return turns.wait();
}

const sliceMs = 20;

/**
 * A pause for work of many small steps, to be awaited between them: a turn of its own after every 20 ms of work.
 */
export function slices(): () => Promise<void> {
  let sinceMs = performance.now();
  return async () => {
    if (performance.now() - sinceMs < sliceMs) return;
    await ownTurn();
    sinceMs = performance.now();
  };
}
