/** Calls of the platform as the signed-in person, and messages for failed ones. */

import { ApiClient } from '../../client/api-client.ts';
import { ApiError, NetworkError } from '../../client/errors.ts';
import { accessToken, readPerson, renewSignIn } from './auth.ts';

/**
 * A call with a 401 is repeated once with a renewed token. Without one the console shows its sign-in form over the
 * page, and the call waits for the person.
 */
export const platform = new ApiClient({
  address: '',
  bearer: { token: accessToken, renew: renewSignIn },
  onForbidden: () => void readPerson(),
  init: { cache: 'no-store', credentials: 'omit', headers: { accept: 'application/json' } },
});

/** The platform's own message, with the first faults that it does not mention. */
export function messageOf({ message, issues }: ApiError): string {
  const others = issues.filter((issue) => !message.includes(issue.message));
  return [message, ...others.slice(0, 5).map((issue) => `${issue.path}: ${issue.message}`)].join(' ');
}

/** The message of an error for people. */
export function textOf(error: unknown): string {
  if (error instanceof ApiError) {
    // A call without a valid token waits for one: with a 401 it comes to the role, as with a 403.
    return error.status === 403 || error.status === 401 ? 'Your role does not allow this.' : messageOf(error);
  }
  if (error instanceof NetworkError) {
    const safe = error.isOutcomeUnknown ? ' If it was done already, the retry does not do it twice.' : '';
    return `${error.message} Check the connection, then retry.${safe}`;
  }
  return error instanceof Error ? error.message : String(error);
}

/** True when the platform says that there is no such thing, or none that the person may see. */
export function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

/** True when a change was meant for an earlier revision: another came between. */
export function isOvertaken(error: unknown): boolean {
  return error instanceof ApiError && error.status === 412;
}

/** True when no answer came, or one of a gateway in place of the platform's. */
export function isOutage(error: unknown): boolean {
  return error instanceof NetworkError || (error instanceof ApiError && error.status > 501);
}

/** True for the rejection of a request that the page itself aborted. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}
