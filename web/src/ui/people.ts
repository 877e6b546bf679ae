import type { User } from '../../../client/types.ts';
import { useResource } from '../hooks.ts';
import { platform } from '../http.ts';
import { personTitle } from '../names.ts';

/** The names of people by their ids. Without an answer, and for an account that is deleted, there is none. */
export function useNamesOfPeople(ids: Iterable<string>): ReadonlyMap<string | null, string> {
  const wanted = [...new Set(ids)].sort();
  const users = useResource(
    `people ${wanted.join(' ')}`,
    async (signal) => (wanted.length === 0 ? [] : readAccounts(wanted, signal)),
    { keepWhileLoading: true },
  );
  return new Map((users.data ?? []).map((user) => [user.userId, personTitle(user)]));
}

/** Accounts by their ids; an account that is deleted is left out. */
async function readAccounts(ids: readonly string[], signal: AbortSignal): Promise<readonly User[]> {
  const { users } = await platform.call('POST /api/authorization/users/lookup', { body: { ids }, signal });
  return users;
}
