/** A loop that repeats its work at an interval until it is stopped; a failure is logged and does not end it. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';

export interface Loop {
  /** Resolves when the round under way has ended. */
  stop(): Promise<void>;
}

/** @param signal aborted when the loop is to stop */
type Round = (signal: AbortSignal) => Promise<void>;

/**
 * @param round one round; its next begins `everyMs` after it ended. One that works through a backlog ends when the signal
 *   is aborted
 */
export function startLoop(name: string, everyMs: number, log: Logger, round: Round): Loop {
  const stopping = new AbortController();
  const running = (async () => {
    while (!stopping.signal.aborted) {
      try {
        await round(stopping.signal);
      } catch (error) {
        log.warn({ loop: name, err: error }, 'a round failed');
      }
      await delay(everyMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
