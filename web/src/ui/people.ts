import { useResource } from '../hooks.ts';
import { platform } from '../http.ts';
import { personTitle } from '../names.ts';

export type Names = ReadonlyMap<string | null, string>;

/** The names of people by their ids. Without an answer, and for an account that is deleted, there is none. */
export function useNamesOfPeople(ids: Iterable<string>): Names {
  const wanted = [...new Set(ids)].sort();
  const names = useResource(
    `people ${wanted.join(' ')}`,
    async (signal) => await readNamesOfPeople(wanted, signal),
    { keepWhileLoading: true },
  );
  return names.data ?? new Map();
}

/** An account that is deleted is left out. */
export async function readNamesOfPeople(people: readonly string[], signal: AbortSignal): Promise<Names> {
  const ids = [...new Set(people)];
  if (ids.length === 0) return new Map();
  const { users } = await platform.call('POST /api/authorization/users/lookup', { body: { ids }, signal });
  return new Map(users.map((user) => [user.userId, personTitle(user)]));
}
