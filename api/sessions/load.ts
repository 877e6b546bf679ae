/** A session with all that its routes show. */
import { Problem, type ProblemKey } from '../../domain/errors.ts';
import type { Queryable } from '../../store/connection/database.ts';
import { type NodeProgress, sessionProgress } from '../../store/sessions/progress.ts';
import { findSessionDetails, type SessionDetails } from '../../store/sessions/sessions.ts';

export interface LoadedSession {
  readonly session: SessionDetails;
  readonly nodes: readonly NodeProgress[];
}

/**
 * Throws `missing` (404) when the session is gone.
 * @param ids of its project and template, where the caller knows them
 */
export async function loadSession(
  database: Queryable,
  id: string,
  missing: ProblemKey = 'sessionNotFound',
  ids?: Parameters<typeof findSessionDetails>[2],
): Promise<LoadedSession> {
  const [session, nodes] = await Promise.all([
    findSessionDetails(database, id, ids),
    sessionProgress(database, id),
  ]);
  if (session === undefined || nodes === undefined) throw new Problem(missing);
  return { session, nodes };
}
