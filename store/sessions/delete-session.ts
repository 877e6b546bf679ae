/** Deleting a session: its rows at once, its objects and workflows by queues that stay until both are gone. */
import type { Database, Tx } from '../connection/database.ts';
import { failpoint } from '../connection/failpoint.ts';
import { holdSession } from '../runs/change-session.ts';
import { discardUploadsOfSession } from '../uploads/resumable-uploads.ts';

/** @returns false when there is no such session */
export async function deleteSession(database: Database, sessionId: string): Promise<boolean> {
  const wasThere = await holdSession(database, { sessionId }, async (tx) => {
    // From here on no output can be written to a node: this waits for transactions that write one, and then sees their
    // objects.
    await tx.query('select 1 from node_instance where session_id = $1 order by id for update', [sessionId]);
    await deleteLockedSession(tx, sessionId);
    return true;
  });
  await failpoint('session-deleted');
  return wasThere ?? false;
}

/** As {@link deleteSession}, for a caller that has locked the session and then its nodes. */
export async function deleteLockedSession(tx: Tx, sessionId: string): Promise<void> {
  await queueObjects(tx, sessionId);
  await discardUploadsOfSession(tx, sessionId);
  await tx.query('insert into session_ending (session_id) values ($1) on conflict do nothing', [sessionId]);
  for (const table of ['node_output', 'node_run'] as const) await deleteRows(tx, table, sessionId);
  await tx.query('delete from session where id = $1', [sessionId]);
}

/** A statement has a time limit, and a session may have a million runs. */
const rowsAtOnce = 20_000;

async function deleteRows(tx: Tx, table: 'node_output' | 'node_run', sessionId: string): Promise<void> {
  for (let deleted = rowsAtOnce; deleted === rowsAtOnce; ) {
    const rows = await tx.query(
      `delete from ${table} where id = any (array(
         select r.id from node_instance n join ${table} r on r.node_instance_id = n.id
          where n.session_id = $1 limit ${rowsAtOnce})) returning 1`,
      [sessionId],
    );
    deleted = rows.length;
  }
}

/** All versions, staged ones too. Several outputs of a session may share one object. */
async function queueObjects(tx: Tx, sessionId: string): Promise<void> {
  await tx.query(
    `with outputs as (
       select o.id, o.data_source_id, o.object_key
         from node_output o join node_instance n on n.id = o.node_instance_id where n.session_id = $1
     )
     insert into object_deletion (data_source_id, object_key)
     select data_source_id, object_key from outputs
     union
     select v.data_source_id, v.object_key from node_output_superseded v join outputs o on o.id = v.output_id
     union
     select q.data_source_id, q.object_key
       from queued_upload q join node_instance n on n.id = q.node_instance_id where n.session_id = $1`,
    [sessionId],
  );
}

/** Sessions deleted more than `seconds` ago whose workflows may still run. */
export async function listEndingSessions(
  database: Database,
  seconds: number,
  limit: number,
): Promise<string[]> {
  const rows = await database.query<{ sessionId: string }>(
    `select session_id from session_ending
      where requested_at < statement_timestamp() - make_interval(secs => $1) order by requested_at limit $2`,
    [seconds, limit],
  );
  return rows.map((row) => row.sessionId);
}

/** The workflows of the deleted session have ended. */
export async function markSessionEnded(database: Database, sessionId: string): Promise<void> {
  await database.query('delete from session_ending where session_id = $1', [sessionId]);
}
