/** Answers of the platform: what they hold, or why they refuse. */
import { type DocumentIssue, PlatformError } from './errors.ts';

/** @throws PlatformError for every status but 2xx, and for a body that is no JSON */
export function parseReply<T>(status: number, headers: Headers, text: string): T {
  const body = parseJson(text);
  if (status >= 200 && status < 300 && body !== invalid) return body as T;
  throw refusalOf(status, headers, text);
}

/** The refusal that an answer tells of, in the platform's own words. */
export function refusalOf(status: number, headers: Headers, text: string): PlatformError {
  const body = parseJson(text);
  const { message, errors } = (typeof body === 'object' && body !== null ? body : {}) as {
    message?: unknown;
    errors?: unknown;
  };
  const told = typeof message === 'string' ? message : `The platform answered ${status}.`;
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return new PlatformError(status, told, {
    requestId: headers.get('x-request-id') ?? undefined,
    issues: Array.isArray(errors) ? errors.filter(isIssue) : [],
    retryAfterMs: Number.isFinite(seconds) ? seconds * 1000 : undefined,
  });
}

const invalid = Symbol('invalid JSON');

/** What answers may be something else than the platform, for example a balancer that has lost it. */
function parseJson(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return invalid;
  }
}

function isIssue(value: unknown): value is DocumentIssue {
  const { path, message } = (value ?? {}) as Partial<DocumentIssue>;
  return typeof path === 'string' && typeof message === 'string';
}
