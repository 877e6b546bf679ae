import type { Queryable } from '../connection/database.ts';

/** The incremental state that the node's runner stored last; null when it never did. */
export async function nodeState(
  database: Queryable,
  nodeInstanceId: number,
): Promise<Record<string, unknown> | null> {
  const [row] = await database.query<{ state: Record<string, unknown> | null }>(
    'select runner_state as state from node_instance where id = $1',
    [nodeInstanceId],
  );
  return row?.state ?? null;
}
