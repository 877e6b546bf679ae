/** Errors of an object store, whether to retry, and how long its calls may take. */
import { type RetryPolicy, withRetries } from '../connection/with-retries.ts';
import { SecretUnreadable } from './secrets.ts';

/** `missing`: the object is not there. `failed`: the store refused or could not be reached, or its keys cannot be read. */
export class ObjectStoreError extends Error {
  readonly kind: 'missing' | 'failed';
  /** The store's HTTP status; null when it did not answer. */
  readonly httpStatus: number | null;

  constructor(kind: 'missing' | 'failed', httpStatus: number | null, cause: unknown) {
    const what =
      kind === 'missing'
        ? 'The object does not exist.'
        : `The object store failed: ${how(httpStatus, cause)}.`;
    super(what, { cause });
    this.name = 'ObjectStoreError';
    this.kind = kind;
    this.httpStatus = httpStatus;
  }
}

/** The store sends another number of bytes than the object has. */
export class WrongSize extends Error {
  constructor(received: number, sizeBytes: number) {
    super(
      `it sent ${received > sizeBytes ? 'more than' : `${received} of`} the ${sizeBytes} bytes of the object`,
    );
    this.name = 'WrongSize';
  }
}

function how(httpStatus: number | null, cause: unknown): string {
  if (cause instanceof SecretUnreadable) return 'its keys cannot be decrypted with this SECRETS_KEY';
  if (cause instanceof WrongSize) return cause.message;
  return httpStatus === null ? 'it did not answer' : `it answered with status ${httpStatus}`;
}

export function httpStatusOf(error: unknown): number | null {
  const status = (error as { $metadata?: { httpStatusCode?: number } } | null)?.$metadata?.httpStatusCode;
  return typeof status === 'number' && status >= 100 ? status : null;
}

export function toObjectStoreError(error: unknown): ObjectStoreError {
  if (error instanceof ObjectStoreError) return error;
  const status = httpStatusOf(error);
  const name = (error as Error | null)?.name;
  const isMissing =
    name === 'NoSuchKey' || name === 'NotFound' || (status === 404 && name !== 'NoSuchBucket');
  return new ObjectStoreError(isMissing ? 'missing' : 'failed', status, error);
}

/** No answer, too many requests, a fault of the store's own, or a clock that has stepped. */
function isWorthAnotherTry(error: unknown): boolean {
  if (error instanceof SecretUnreadable) return false;
  const status = httpStatusOf(error);
  return isClockCorrected(error) || status === null || status === 408 || status === 429 || status >= 500;
}

/**
 * The store refused the time of the signature. By then the client has adopted the store's time for the next signature.
 */
function isClockCorrected(error: unknown): boolean {
  return (error as Error | null)?.name === 'RequestTimeTooSkewed';
}

const networkCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ERR_STREAM_PREMATURE_CLOSE',
]);

/** Whether an error of a read or write means that the store was unavailable, and not that it refused something. */
export function isStoreAway(error: unknown): boolean {
  if (error instanceof ObjectStoreError) return error.kind === 'failed' && isWorthAnotherTry(error.cause);
  // Bytes that were under way when the connection broke.
  return networkCodes.has((error as { readonly code?: string } | null)?.code ?? '');
}

/** It was reached and said nothing, or nothing is known of the failure. */
export const noAnswer = 'it does not answer';
const unknownHost = 'its host is unknown, or lies in a network that this installation does not use';
const connectionFaults: Readonly<Record<string, string>> = {
  ENOTFOUND: unknownHost,
  EAI_AGAIN: unknownHost,
  ECONNREFUSED: 'nothing listens at its endpoint',
  EHOSTUNREACH: 'there is no route to its host',
  ENETUNREACH: 'there is no route to its host',
  ECONNRESET: 'it closes the connection',
  EPIPE: 'it closes the connection',
  ERR_STREAM_PREMATURE_CLOSE: 'it closes the connection',
};

/** Why a store that gave no status was not reached, as the end of a sentence, without any text of a foreign server. */
export function connectionFaultOf(error: unknown): string {
  const { code = '' } = lastCauseOf(error) as NodeJS.ErrnoException;
  if (/CERT|SIGNATURE|SSL|TLS|EPROTO/.test(code)) return 'its endpoint has no valid certificate';
  return connectionFaults[code] ?? noAnswer;
}

export function lastCauseOf(error: unknown): Error {
  let at = error;
  for (let depth = 0; at instanceof Error && at.cause instanceof Error && depth < 8; depth += 1)
    at = at.cause;
  return at instanceof Error ? at : new Error(String(at));
}

/** About two seconds in all. */
const storeTries: RetryPolicy = { maxTries: 4, firstPauseMs: 200, mayPass: isWorthAnotherTry };

/** A store that is reached and has not begun to answer by then is away. */
const answerMs = 30_000;
const minBytesPerMs = 64;
/** A store that has all bytes of an object may have to write or to assemble it. */
const minBytesWrittenPerMs = 1024;
const maxFinishMs = 300_000;

const finishMs = (sizeBytes: number) => Math.min(answerMs + sizeBytes / minBytesWrittenPerMs, maxFinishMs);

/** One call of a store, ended when it is not answered in time, however often the SDK tries. */
export async function answeredInTime<T>(
  call: (signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
  limitMs = answerMs,
): Promise<T> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), limitMs);
  try {
    return await call(signal === undefined ? silence.signal : AbortSignal.any([signal, silence.signal]));
  } finally {
    clearTimeout(timer);
  }
}

/** Sends bytes, again after faults that may pass, all within the time for one call of their size. */
export function sendInTime<T>(
  signal: AbortSignal,
  sizeBytes: number,
  send: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limitMs = answerMs + sizeBytes / minBytesPerMs;
  return answeredInTime((within) => withTries(within, () => send(within)), signal, limitMs);
}

/** The call that ends an object of this size whose bytes the store has. */
export function finishInTime<T>(
  signal: AbortSignal,
  sizeBytes: number,
  finish: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return answeredInTime(finish, signal, finishMs(sizeBytes));
}

/**
 * Passes bytes on as they come. The call is ended when the store takes no more of them in time, or has all of them and
 * does not answer; a slow source may take as long as it likes.
 */
export async function passInTime<T>(
  signal: AbortSignal,
  sizeBytes: number,
  pieces: AsyncIterable<Buffer>,
  send: (pieces: AsyncGenerator<Buffer, void, undefined>, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const silence = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const expectWithin = (ms: number) => {
    timer = setTimeout(() => silence.abort(), ms).unref();
  };
  async function* watched() {
    for await (const piece of pieces) {
      expectWithin(answerMs);
      yield piece;
      clearTimeout(timer);
    }
    expectWithin(finishMs(sizeBytes));
  }
  try {
    return await send(watched(), AbortSignal.any([signal, silence.signal]));
  } finally {
    clearTimeout(timer);
  }
}

/** @param signal after it aborted nothing is tried again */
export function withTries<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return withRetries(storeTries, work, signal);
}
