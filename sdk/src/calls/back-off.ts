/** How long the kit waits before a call is made again, and how often. */
import { isTransient as mayPass, BackOff as Waits } from '../../../client/back-off.ts';
import { ApiError, NetworkError } from '../errors.ts';

export { pause } from '../../../client/back-off.ts';

/** About half a minute of the same 500. */
const serverErrorsInARow = 10;

/** Waits from 0.2 seconds on. A longer `Retry-After` is obeyed up to a minute: leases do not wait. */
export class BackOff extends Waits {
  #serverErrors = 0;

  constructor(maxMs: number) {
    super({ firstMs: 200, maxMs, maxRetryAfterMs: 60_000 });
  }

  override reset(): void {
    super.reset();
    this.#serverErrors = 0;
  }

  /** Whether to try again: after each sign of an outage, and after some server errors in a row. */
  isWorthIt(error: unknown): boolean {
    this.#serverErrors = isOutage(error) || !isTransient(error) ? 0 : this.#serverErrors + 1;
    return isTransient(error) && this.#serverErrors < serverErrorsInARow;
  }
}

/** True for temporary errors: no answer, too many calls, a fault of the server. */
export function isTransient(error: unknown): boolean {
  return isOutage(error) || mayPass(error);
}

/** True for signs of an outage, which is temporary; a plain 500 may be permanent. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof ApiError)) return error instanceof NetworkError;
  // A 404 without a code comes from a gateway that currently has no platform behind it.
  return [408, 429, 502, 503, 504].includes(error.status) || (error.status === 404 && error.code === '');
}
