/** How long to wait before a call is made again. */
import { setTimeout as delay } from 'node:timers/promises';
import { ApiError, NetworkError } from './errors.ts';

const firstMs = 200;
/** A server that asks for more gets it up to here: leases do not wait. */
const longestRetryAfterMs = 60_000;
/** About half a minute of the same 500. */
const serverErrorsInARow = 10;

/** Waits that double from 0.2 seconds up to a bound, each shortened by chance by up to a half. */
export class BackOff {
  readonly #longestMs: number;
  #failures = 0;
  #serverErrors = 0;

  constructor(longestMs: number) {
    this.#longestMs = longestMs;
  }

  /** Failures since the last success. */
  get failures(): number {
    return this.#failures;
  }

  reset(): void {
    this.#failures = 0;
    this.#serverErrors = 0;
  }

  /** Whether to try again: after each sign of an outage, and after some server errors in a row. */
  isWorthIt(error: unknown): boolean {
    this.#serverErrors = isOutage(error) || !isTransient(error) ? 0 : this.#serverErrors + 1;
    return isTransient(error) && this.#serverErrors < serverErrorsInARow;
  }

  /** The next wait in milliseconds; not below what the server asked for. */
  nextMs(error: unknown): number {
    const fullMs = Math.min(this.#longestMs, firstMs * 2 ** Math.min(this.#failures, 20));
    this.#failures += 1;
    const askedMs = error instanceof ApiError ? Math.min(error.retryAfterMs ?? 0, longestRetryAfterMs) : 0;
    return Math.max(askedMs, fullMs * (0.5 + Math.random() / 2));
  }

  /** Waits; rejects with the signal's reason when that comes first. */
  async wait(error: unknown, signal?: AbortSignal): Promise<void> {
    await pause(this.nextMs(error), signal);
  }
}

/** Resolves after a time; rejects with the signal's reason when that comes first. */
export async function pause(timeMs: number, signal?: AbortSignal): Promise<void> {
  try {
    await delay(timeMs, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

/** True for what may go well the next time: no answer, too many calls, a server in trouble. */
export function isTransient(error: unknown): boolean {
  return isOutage(error) || (error instanceof ApiError && error.status >= 500);
}

/** True for signs of an outage, which ends some day; a plain 500 may be the same each time. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof ApiError)) return error instanceof NetworkError;
  // A 404 without a code is a gateway's that has no platform behind it just now.
  return [408, 429, 502, 503, 504].includes(error.status) || (error.status === 404 && error.code === '');
}
