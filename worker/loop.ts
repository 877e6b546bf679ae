/** A loop that repeats its work at an interval until it is stopped; a failure is logged and does not end it. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';

export interface Loop {
  /** Resolves when the round under way has ended. */
  stop(): Promise<void>;
}

/**
 * @param round one round; its next begins `everyMs` after it ended
 */
export function startLoop(name: string, everyMs: number, log: Logger, round: () => Promise<void>): Loop {
  const stopping = new AbortController();
  const running = (async () => {
    while (!stopping.signal.aborted) {
      try {
        await round();
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
