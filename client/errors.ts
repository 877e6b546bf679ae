/** What can go wrong with a call of the platform. */

/** One fault of a document that was sent, at its JSON path. */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

export interface Refusal {
  readonly status: number;
  readonly code?: string;
  readonly message: string;
  readonly requestId?: string | null;
  readonly retryAfterMs?: number | null;
  readonly issues?: readonly Issue[];
  readonly body?: unknown;
}

/** A refusal by the platform, or a permanent failure of a call. */
export class ApiError extends Error {
  /** HTTP status. */
  readonly status: number;
  /** Stable code of the runner routes, for example `watermark_regression`; `''` when the reply carried none. */
  readonly code: string;
  /** `X-Request-Id` of the reply: the id of the call in the platform's logs. */
  readonly requestId: string | null;
  /** The reply's `Retry-After` in milliseconds. */
  readonly retryAfterMs: number | null;
  /** Faults of the sent document, each with its path. */
  readonly issues: readonly Issue[];
  /** The whole reply if it was JSON, else undefined. */
  readonly body: unknown;

  constructor(fields: Refusal) {
    super(fields.message);
    this.name = 'ApiError';
    this.status = fields.status;
    this.code = fields.code ?? '';
    this.requestId = fields.requestId ?? null;
    this.retryAfterMs = fields.retryAfterMs ?? null;
    this.issues = fields.issues ?? [];
    this.body = fields.body;
  }
}

interface NetworkErrorOptions extends ErrorOptions {
  isOutcomeUnknown?: boolean;
}

/** No complete answer came: refused, broken or silent connections. */
export class NetworkError extends Error {
  /** The call creates something, and may have arrived all the same. */
  readonly isOutcomeUnknown: boolean;

  constructor(message: string, options: NetworkErrorOptions = {}) {
    super(message, options);
    this.name = 'NetworkError';
    this.isOutcomeUnknown = options.isOutcomeUnknown === true;
  }
}

/** The error of a call to this address that got no answer. */
export function unanswered(address: string, cause: unknown): NetworkError {
  return new NetworkError(`${address} ${doesNotAnswer(cause)}.`, { cause });
}

/** With the reason, such as a certificate or a name, where it says more than that nothing listens there. */
export function doesNotAnswer(cause: unknown): string {
  const { code, message } = innermost(cause);
  const isKnown = typeof code === 'string' && code !== 'ECONNREFUSED' && typeof message === 'string';
  return isKnown && message !== '' ? `does not answer: ${message}` : 'does not answer';
}

/** Whether the certificate of the other side is of an authority that this machine does not know. */
export function isOfUnknownAuthority(cause: unknown): boolean {
  return /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)/.test(String(innermost(cause).code));
}

/** `fetch` in Node says nothing itself, and a proxy's refusal is two causes deep. */
function innermost(cause: unknown): { readonly code?: unknown; readonly message?: unknown } {
  let fault = cause;
  while (fault instanceof Error && fault.cause !== undefined) fault = fault.cause;
  return fault ?? {};
}

/** An answer outside 200 to 299, read. */
export interface Refused {
  readonly status: number;
  /** A header by its lower-case name. */
  readonly header: (name: string) => string | null | undefined;
  readonly text: string;
}

/**
 * The error of a refusal, with the platform's message if the body has one. A gateway or a load balancer may have
 * answered in place of the platform: then there is no code, and the message names the status.
 */
export function refusalOf({ status, header, text }: Refused): ApiError {
  const body = parseJson(text);
  const { code, message, errors } = (typeof body === 'object' && body !== null ? body : {}) as {
    readonly code?: unknown;
    readonly message?: unknown;
    readonly errors?: unknown;
  };
  return new ApiError({
    status,
    code: typeof code === 'string' ? code : '',
    message: typeof message === 'string' ? message : `The platform answered ${status}.`,
    requestId: header('x-request-id') ?? null,
    retryAfterMs: readRetryAfter(header('retry-after'), readNow(header('date'))),
    issues: Array.isArray(errors) ? errors.filter(isIssue) : [],
    body,
  });
}

/** The time by the clock of the server that answered: the one here may be wrong. */
function readNow(date: string | null | undefined): number {
  return Date.parse(date ?? '') || Date.now();
}

/** `Retry-After` in seconds or as a date, in milliseconds; null for none. */
export function readRetryAfter(value: string | null | undefined, nowMs: number): number | null {
  if (value === null || value === undefined) return null;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs);
}

/** The value; undefined for an empty text, and for one that is no JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isIssue(value: unknown): value is Issue {
  const { path, message } = (value ?? {}) as Partial<Issue>;
  return typeof path === 'string' && typeof message === 'string';
}
