/** The sessions that a query finds, as a page of the list. */
import { useRef } from 'preact/hooks';
import { ApiError } from '../../../client/errors.ts';
import { type FoundSessions, listSessions, querySessions, type SessionList } from '../api.ts';
import { type AskedQuery, writeAskedQuery } from '../query/address.ts';
import { pageSize } from './address.ts';
import { inOrderOf } from './list-model.ts';
import { useSessionRows } from './use-rows.ts';

/** The query is asked once; what it found is read again and again, so that the rows are live at a low price. */
export function useFound(asked: AskedQuery, page: number) {
  const key = `${writeAskedQuery(asked)} ${page}`;
  const known = useRef<{ key: string; reply: FoundSessions | ApiError } | null>(null);
  const read = async (signal: AbortSignal): Promise<SessionList & { key: string }> => {
    if (known.current?.key !== key) known.current = { key, reply: await ask(asked, page, signal) };
    const { reply } = known.current;
    if (reply instanceof ApiError) throw reply;
    const ids = reply.sessions.map(({ id }) => id);
    const sessions =
      ids.length === 0 ? [] : (await listSessions({ ids: ids.join(','), pageSize }, signal)).sessions;
    const { totalCount, totalCountIsExact } = reply;
    const totalPages = Math.ceil(totalCount / pageSize);
    const counts = { page, pageSize, totalCount, totalCountIsExact, totalPages };
    return { key, sessions: inOrderOf(ids, sessions), ...counts };
  };
  const { list, loaded, showNewer } = useSessionRows(key, read);
  return {
    list,
    loaded,
    showNewer,
    /** The answer is still that of the query before. */
    isLate: list.loading && list.data?.key !== key,
    /** Asks the same query once more. */
    again: () => {
      known.current = null;
      list.reload();
    },
  };
}

/** A fault of the query is an answer too: it is not asked again. */
async function ask(asked: AskedQuery, page: number, signal: AbortSignal): Promise<FoundSessions | ApiError> {
  try {
    return await querySessions({ ...asked, limit: pageSize, offset: (page - 1) * pageSize }, signal);
  } catch (error) {
    if (isFault(error)) return error;
    throw error;
  }
}

export function isFault(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 400;
}
