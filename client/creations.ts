/**
 * Calls that create something are sent under an `Idempotency-Key` of their own, and repeated under it while it is unknown
 * whether they arrived: however often the connection breaks, one call makes one thing.
 */
import { BackOff, pause } from './back-off.ts';
import { type CreatingRoute, creatingRoutes } from './creating-routes.ts';
import { ApiError, NetworkError } from './errors.ts';
import { spentKeyMessage } from './messages.ts';

/** Repeats begin within this time after the first lost answer. */
const repeatMs = 20_000;
/** Requests of unknown outcome whose keys are kept. */
const keptKeys = 20;
const creating: ReadonlySet<string> = new Set(creatingRoutes);
/** The connection was never made, so nothing was sent. Browsers do not report these codes. */
const unsentCodes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']);
const gatewayStatuses = new Set([502, 503, 504]);

export const isCreating = (route: string): route is CreatingRoute => creating.has(route);

/** The creating calls of one client. */
export class Creations {
  /** The keys of requests that ended without a known outcome: the same request again is their repeat. */
  readonly #unsettled = new Map<string, string>();

  /**
   * @param request the same text for the same request
   * @param send one try, with the header of the key
   * @throws ApiError; NetworkError, with `isOutcomeUnknown` when it may have arrived; what else `send` throws
   */
  async make<T>(
    request: string,
    send: (headers: Readonly<Record<string, string>>) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const known = this.#unsettled.get(request);
    this.#unsettled.delete(request);
    const key = known ?? newKey();
    const backOff = new BackOff({ firstMs: 250, maxMs: 4_000 });
    let isUnknown = known !== undefined;
    let untilMs = 0;
    try {
      for (;;) {
        try {
          return await send({ 'idempotency-key': `"${key}"` });
        } catch (error) {
          if (!isUnknown && isUnsent(error)) throw error;
          if (isSpent(error)) {
            isUnknown = false;
            throw secretLost(error);
          }
          isUnknown ||= mayHaveArrived(error);
          if (!isWorthRepeating(error)) throw error;
          untilMs ||= performance.now() + repeatMs;
          const waitMs = backOff.nextMs(error);
          if (waitMs > repeatMs || (backOff.failures > 1 && performance.now() + waitMs > untilMs))
            throw isUnknown ? outcomeUnknown(error) : error;
          await pause(waitMs, signal);
        }
      }
    } catch (error) {
      if (isUnknown) this.#keep(request, key);
      throw error;
    }
  }

  #keep(request: string, key: string): void {
    this.#unsettled.set(request, key);
    const [oldest] = this.#unsettled.keys();
    if (this.#unsettled.size > keptKeys) this.#unsettled.delete(oldest!);
  }
}

/** Pages over plain HTTP have no `randomUUID`. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function mayHaveArrived(error: unknown): boolean {
  return !(error instanceof ApiError) || error.status >= 500 || isUnderWay(error);
}

function isWorthRepeating(error: unknown): boolean {
  if (error instanceof ApiError) return gatewayStatuses.has(error.status) || isUnderWay(error);
  return error instanceof NetworkError;
}

/** The first request under the key has no answer yet. */
const isUnderWay = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 409 && error.retryAfterMs !== null;

function isUnsent(error: unknown): boolean {
  const cause = error instanceof NetworkError ? (error.cause as { cause?: { code?: string } }) : undefined;
  return unsentCodes.has(cause?.cause?.code ?? '');
}

const isSpent = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.status === 409 && error.message === spentKeyMessage;

function secretLost(error: ApiError): ApiError {
  const message =
    'It was done, but the answer with its secret was lost, and the secret is shown only once. Replace the secret again, or delete what was made and make another one.';
  return new ApiError({ ...error, message });
}

function outcomeUnknown(error: unknown): unknown {
  if (!(error instanceof NetworkError)) return error;
  return new NetworkError(error.message, { cause: error.cause, isOutcomeUnknown: true });
}
