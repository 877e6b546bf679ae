/** The session of an object. */
import type { SessionObject } from '../../domain/access/session-access.ts';
import type { Queryable } from '../connection/database.ts';

const statements: Readonly<Record<SessionObject, string>> = {
  session: 'select id from session where id = $1',
  nodeInstance: 'select session_id as id from node_instance where id = $1',
  nodeOutput: `select n.session_id as id from node_output o join node_instance n on n.id = o.node_instance_id
                where o.id = $1`,
  dimension: 'select session_id as id from dimension where id = $1',
};

/** The session's id; undefined when there is no such object. */
export async function sessionOf(
  database: Queryable,
  object: SessionObject,
  id: string | number,
): Promise<string | undefined> {
  const [row] = await database.query<{ id: string }>(statements[object], [id]);
  return row?.id;
}
