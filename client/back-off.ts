/** How long to wait before a call is made again. */
import { ApiError, NetworkError } from './errors.ts';

export interface BackOffSettings {
  /** The first wait. */
  readonly firstMs: number;
  /** Waits double up to here. */
  readonly maxMs: number;
  /** A longer `Retry-After` of the server is obeyed up to here. Default: an hour. */
  readonly maxRetryAfterMs?: number;
}

/** Waits that double up to a bound, each shortened at random by up to a half. */
export class BackOff {
  readonly #settings: BackOffSettings;
  #failures = 0;

  constructor(settings: BackOffSettings) {
    this.#settings = settings;
  }

  /** Failures since the last success. */
  get failures(): number {
    return this.#failures;
  }

  reset(): void {
    this.#failures = 0;
  }

  /** The next wait in milliseconds; not below what the server asked for. */
  nextMs(error: unknown): number {
    const { firstMs, maxMs, maxRetryAfterMs = 3_600_000 } = this.#settings;
    const fullMs = Math.min(maxMs, firstMs * 2 ** Math.min(this.#failures, 20));
    this.#failures += 1;
    const askedMs = error instanceof ApiError ? Math.min(error.retryAfterMs ?? 0, maxRetryAfterMs) : 0;
    return Math.max(askedMs, fullMs * (0.5 + Math.random() / 2));
  }

  /** Waits; rejects with the signal's reason when that comes first. */
  async wait(error: unknown, signal?: AbortSignal): Promise<void> {
    await pause(this.nextMs(error), signal);
  }
}

/** Resolves after a time; rejects with the signal's reason when that comes first. */
export function pause(timeMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, timeMs);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** Whether the same call may succeed later: no answer, too many calls, another call that goes before, a server in trouble. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof ApiError)) return error instanceof NetworkError;
  return error.status >= 500 || [408, 423, 429].includes(error.status);
}

/** About a minute. */
const maxTries = 15;

/** Failures of the platform in a row, as while its API restarts. */
export class Outage {
  readonly #backOff = new BackOff({ firstMs: 250, maxMs: 5_000 });

  /** The platform has answered. */
  end(): void {
    this.#backOff.reset();
  }

  /** Waits until the next try. @throws the error when it is a refusal, and after the last try */
  async outlast(error: unknown): Promise<void> {
    if (!isTransient(error) || this.#backOff.failures + 1 >= maxTries) throw error;
    await this.#backOff.wait(error);
  }
}
