/** Publishing outputs: a published output has a position, is seen by readers and wakes the node's children. */
import { nodeStateCodes } from '../domain/node-state.ts';
import type { Database, Tx } from './database.ts';
import { failpoint } from './failpoint.ts';
import { insertOutput, type NodeOutputRow, replaceOutput } from './outputs.ts';
import { takePendingObject } from './pending-objects.ts';
import { planSession } from './plan-session.ts';
import { type Effects, type LockedSession, lockSession, nextPosition, saveSession } from './session-lock.ts';

/** What stands in storage already and is now to become an output. */
export interface UploadedObject {
  readonly nodeInstanceId: number;
  readonly dataSourceId: number;
  readonly objectKey: string;
  /** Unique in the node; null lets the platform make one. */
  readonly outputIdentifier: string | null;
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
  readonly sizeBytes: number;
  readonly sha256: string | null;
  readonly etag: string;
  readonly metadata: Record<string, unknown> | null;
}

export type PublishResult =
  | { readonly outcome: 'created' | 'replaced'; readonly output: NodeOutputRow; readonly effects: Effects }
  | { readonly outcome: 'frozen' | 'node-missing' };

/**
 * Publishes an upload: the node is marked processed, its children become `Pending`, all in one transaction
 * (interface, States and transitions). An identifier that the node has already replaces that output's bytes:
 * same id, new position. Fails when the object's pending row is gone (the sweeper took it).
 */
export async function publishUpload(database: Database, upload: UploadedObject): Promise<PublishResult> {
  failpoint('upload-stored');
  const result = await database.transaction<PublishResult>(async (tx) => {
    const session = await lockSession(tx, 'node', upload.nodeInstanceId);
    if (!session) return { outcome: 'node-missing' };
    if (session.frozen) return { outcome: 'frozen' };
    await takePendingObject(tx, upload.objectKey);
    const values = { ...upload, sessionId: session.sessionId, position: nextPosition(session), runId: null };
    const replaced = upload.outputIdentifier === null ? undefined : await replaceOutput(tx, values);
    const output = replaced ?? (await insertOutput(tx, values));
    await markPublished(tx, output);
    await planSession(tx, session, upload.nodeInstanceId);
    const effects = await saveSession(tx, session);
    return { outcome: replaced ? 'replaced' : 'created', output, effects };
  });
  failpoint('upload-committed');
  return result;
}

/** Marks the node of a newly published output processed. */
export async function markPublished(
  tx: Tx,
  output: Pick<NodeOutputRow, 'id' | 'nodeInstanceId' | 'position'>,
): Promise<void> {
  await tx.query(
    `update node_instance
        set state = ${nodeStateCodes.Succeeded}, status_details = '', last_processed = clock_timestamp(),
            newest_position = $2, newest_output_id = $3
      where id = $1`,
    [output.nodeInstanceId, output.position, output.id],
  );
}

/**
 * Publishes the staged outputs of a run in the order in which they were written.
 * @returns their number, and the newest; the caller writes the node's counters
 */
export async function publishStaged(
  tx: Tx,
  session: LockedSession,
  runId: string,
): Promise<{ count: number; newest?: { id: number; position: number } }> {
  const rows = await tx.query<{ id: number; position: number }>(
    `with staged as (
       select id, row_number() over (order by id) as place from node_output
        where run_id = $1 and position is null
     )
     update node_output o set position = $2 + staged.place, created_at = clock_timestamp()
       from staged where o.id = staged.id
     returning o.id, o.position`,
    [runId, session.newestPosition],
  );
  session.newestPosition += rows.length;
  const newest = rows.find((row) => row.position === session.newestPosition);
  return newest ? { count: rows.length, newest } : { count: 0 };
}
