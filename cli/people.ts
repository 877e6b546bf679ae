/** The names of people, as a person reads them. */
import { ApiError } from '../client/errors.ts';
import type { PlatformClient } from './platform-client.ts';

/** How many accounts the platform accepts in one call. */
const accountsAtOnce = 1_000;

/**
 * Names by the ids of accounts. An account that is gone, and one that the caller may not see, has none: the id is shown alone
 * then.
 */
export async function namesOf(
  platform: PlatformClient,
  ids: Iterable<string>,
): Promise<ReadonlyMap<string | null, string>> {
  const wanted = [...new Set(ids)];
  const names = new Map<string | null, string>();
  for (let at = 0; at < wanted.length; at += accountsAtOnce) {
    const body = { ids: wanted.slice(at, at + accountsAtOnce) };
    try {
      const { users } = await platform.call('POST /api/authorization/users/lookup', { body });
      for (const { userId, firstName, lastName, username } of users)
        names.set(userId, `${firstName} ${lastName}`.trim() || username);
    } catch (error) {
      // Tokens of devices may not ask for people.
      if (!(error instanceof ApiError && error.status === 403)) throw error;
    }
  }
  return names;
}
