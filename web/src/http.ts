import { accessToken, endSignIn, renewAccess } from './auth.ts';

/** An answer of the platform that is not a success, or no answer at all (`status` 0). */
export class ApiError extends Error {
  readonly status: number;
  /** From the header Retry-After, else null. */
  readonly retryAfterSeconds: number | null;
  /** What is wrong with a document that was sent, place by place. */
  readonly faults: Fault[];
  /** The whole body, where it is JSON. */
  readonly body: unknown;

  constructor(
    status: number,
    message: string,
    retryAfterSeconds: number | null = null,
    body: unknown = null,
  ) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
    this.body = body;
    this.faults = faultsIn(body);
  }
}

/** One fault of a document, at its JSON path. */
export interface Fault {
  path: string;
  message: string;
}

export interface RequestOptions {
  method?: string;
  /** Sent as JSON. */
  body?: unknown;
  /** Besides those that every request has. */
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
}

/**
 * One request with the caller's bearer token. A 401 is tried once more with a renewed token; when that does not
 * help either, the sign-in ends, and the console shows its sign-in form in place of the page.
 *
 * @throws {ApiError} for every answer outside 200 to 299, and with status 0 when there was no answer.
 */
export async function send(path: string, options: RequestOptions = {}): Promise<Response> {
  const first = await sendOnce(path, options, await accessToken());
  if (first.status !== 401) return succeedOrThrow(first);
  const renewed = await renewAccess();
  const second = renewed === null ? first : await sendOnce(path, options, renewed);
  if (second.status === 401) endSignIn('Your sign-in has ended. Sign in again to return to this page.');
  return succeedOrThrow(second);
}

/** As `send`, with the answer read as JSON. The shape is the route's contract; it is not checked again here. */
export async function sendForJson<T>(path: string, options: RequestOptions = {}): Promise<T> {
  const response = await send(path, options);
  return (await response.json()) as T;
}

async function sendOnce(path: string, options: RequestOptions, token: string | null): Promise<Response> {
  const headers = new Headers({ Accept: 'application/json', ...options.headers });
  if (token !== null) headers.set('Authorization', `Bearer ${token}`);
  if (options.body !== undefined) headers.set('Content-Type', 'application/json');
  try {
    return await fetch(path, {
      method: options.method ?? 'GET',
      headers,
      cache: 'no-store',
      credentials: 'omit',
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
      ...(options.signal ? { signal: options.signal } : {}),
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError(0, 'The platform does not answer. Check the connection, then try again.');
  }
}

async function succeedOrThrow(response: Response): Promise<Response> {
  if (response.ok) return response;
  const retryAfter = Number(response.headers.get('Retry-After') ?? Number.NaN);
  const text = await response.text().catch(() => '');
  throw new ApiError(
    response.status,
    messageOf(response.status, text),
    Number.isFinite(retryAfter) ? retryAfter : null,
    jsonOrNull(text),
  );
}

function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: a proxy in between answered.
    return null;
  }
}

/** The platform's own message from a common error body, else a sentence for the status. */
export function messageOf(status: number, bodyText: string): string {
  const body = jsonOrNull(bodyText);
  if (typeof body === 'object' && body !== null && 'message' in body && typeof body.message === 'string') {
    const { message } = body;
    // A message that names the place of its only fault says everything.
    const others = faultsIn(body).filter((fault) => !message.includes(fault.message));
    return [message, ...others.slice(0, 5).map(({ path, message }) => `${path}: ${message}`)].join(' ');
  }
  return `The platform answered with status ${status}.`;
}

function faultsIn(body: unknown): Fault[] {
  const errors = typeof body === 'object' && body !== null && 'errors' in body ? body.errors : null;
  if (!Array.isArray(errors)) return [];
  return errors.filter((fault): fault is Fault => typeof fault?.message === 'string');
}

/** What to tell a person about something that went wrong. */
export function textOf(error: unknown): string {
  if (error instanceof ApiError && error.status === 403) return 'Your role does not allow this.';
  return error instanceof Error ? error.message : String(error);
}

/** True for the rejection of a request that the page itself gave up. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}
