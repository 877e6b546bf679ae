import { listSessions } from '../api.ts';
import { useResource } from '../hooks.ts';

/** As many as one answer has. */
const maxNames = 100;

/** The names of sessions by their ids. Without an answer, and for one that is deleted, there is none. */
export function useSessionNames(ids: readonly string[]): ReadonlyMap<string | null, string> {
  const wanted = [...new Set(ids)].sort().slice(0, maxNames);
  const list = useResource(
    `names ${wanted.join(' ')}`,
    async (signal) =>
      wanted.length === 0
        ? []
        : (await listSessions({ ids: wanted.join(','), pageSize: maxNames }, signal)).sessions,
    { keepWhileLoading: true },
  );
  return new Map((list.data ?? []).map(({ id, name }) => [id, name]));
}
