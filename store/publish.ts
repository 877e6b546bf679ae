/** Publishing outputs: a published output has a position, is seen by readers and wakes the node's children. */
import type { Database, Tx } from './database.ts';
import { failpoint } from './failpoint.ts';
import type { NodeOutputRow } from './outputs.ts';
import { takePendingObject } from './pending-objects.ts';
import { planSession } from './plan-session.ts';
import { markPublished, publishOutput } from './publish-output.ts';
import { publishQueuedOfNode } from './queued-uploads.ts';
import { type Effects, type LockedSession, lockSession, saveSession } from './session-lock.ts';

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
 * same id, new position. What was acknowledged for the node before and still waits is published first.
 * @throws PendingObjectGone when the sweeper took the object
 */
export async function publishUpload(database: Database, upload: UploadedObject): Promise<PublishResult> {
  failpoint('upload-stored');
  let wake = false;
  for (;;) {
    const result = await database.transaction<PublishResult | { outcome: 'drained'; effects: Effects }>(
      async (tx) => {
        const session = await lockSession(tx, 'node', upload.nodeInstanceId);
        if (!session) return { outcome: 'node-missing' };
        if (session.frozen) return { outcome: 'frozen' };
        if (await publishQueuedOfNode(tx, session, upload.nodeInstanceId)) {
          return { outcome: 'drained', effects: await saveSession(tx, session) };
        }
        return publishUploadWithin(tx, session, upload);
      },
    );
    if ('effects' in result) wake ||= result.effects.wake;
    if (result.outcome === 'drained') continue;
    failpoint('upload-committed');
    return 'effects' in result ? { ...result, effects: { ...result.effects, wake } } : result;
  }
}

/** As {@link publishUpload}, inside the caller's transaction, for a node that nothing is queued for. */
export async function publishUploadWithin(
  tx: Tx,
  session: LockedSession,
  upload: UploadedObject,
): Promise<Extract<PublishResult, { output: unknown }>> {
  const [published] = await Promise.all([
    publishOutput(tx, session, upload),
    takePendingObject(tx, upload.objectKey),
  ]);
  await Promise.all([markPublished(tx, published.output), planSession(tx, session, upload.nodeInstanceId)]);
  return { ...published, effects: await saveSession(tx, session) };
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
