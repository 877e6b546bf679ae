import { listSessions } from '../api.ts';
import { useResource } from '../hooks.ts';
import type { Names } from '../ui/people.ts';

/** As many as one answer has. */
const maxNames = 100;

/** The names of sessions by their ids. Without an answer, and for one that is deleted, there is none. */
export function useSessionNames(ids: readonly string[]): Names {
  const wanted = [...new Set(ids)].sort();
  const names = useResource(
    `names ${wanted.join(' ')}`,
    async (signal) => await readSessionNames(wanted, signal),
    { keepWhileLoading: true },
  );
  return names.data ?? new Map();
}

/** A session that is deleted is left out. */
export async function readSessionNames(ids: readonly string[], signal: AbortSignal): Promise<Names> {
  if (ids.length === 0) return new Map();
  const asked = { ids: [...new Set(ids)].slice(0, maxNames).join(','), pageSize: maxNames };
  return new Map((await listSessions(asked, signal)).sessions.map(({ id, name }) => [id, name]));
}
