/** Publishing an upload: its output has a position, is seen by readers and wakes the node's children. */
import type { Database, Tx } from '../connection/database.ts';
import { failpoint } from '../connection/failpoint.ts';
import { oncePerKey } from '../connection/idempotency.ts';
import { removePendingObject } from '../objects/pending-objects.ts';
import type { NodeOutputRow, UploadedObject } from '../outputs/outputs.ts';
import { markPublished, publishOutput } from '../outputs/publish-output.ts';
import {
  type Change,
  changed,
  changeSessionWithin,
  type LockedSession,
  unchanged,
} from '../runs/change-session.ts';
import { planSession } from '../runs/plan-session.ts';
import { publishQueuedOfNode } from './queued-uploads.ts';

export type PublishResult =
  | { readonly outcome: 'created' | 'replaced'; readonly output: NodeOutputRow }
  /** The upload's object is still pending: nothing refers to it. */
  | { readonly outcome: 'repeated'; readonly output: NodeOutputRow }
  | { readonly outcome: 'frozen' | 'node-missing' };

/**
 * Publishes an upload: the node is marked processed, its children become `Pending`, all in one transaction (interface,
 * States and transitions). An identifier that the node has already replaces that output's bytes: same id, new position.
 * A repeat of the same upload changes nothing. Uploads to the node that were acknowledged earlier and still wait are
 * published first.
 * @param settle further writes of the same transaction
 * @throws PendingObjectGone when the sweeper took the object; what `settle` throws
 */
export async function publishUpload(
  database: Database,
  upload: UploadedObject,
  settle: (tx: Tx, result: Extract<PublishResult, { output: unknown }>) => Promise<void> = async () =>
    undefined,
): Promise<PublishResult> {
  await failpoint('upload-stored');
  for (;;) {
    const result = await database.transaction(
      oncePerKey(
        async (tx) => {
          const work = (session: LockedSession) => publishOrDrain(tx, session, upload);
          const done = await changeSessionWithin(tx, { nodeInstanceId: upload.nodeInstanceId }, work);
          if (done !== undefined && 'output' in done) await settle(tx, done);
          return done ?? ({ outcome: 'node-missing' } as const);
        },
        (result) => 'output' in result,
      ),
    );
    if (result.outcome === 'drained') continue;
    await failpoint('upload-committed');
    return result;
  }
}

async function publishOrDrain(
  tx: Tx,
  session: LockedSession,
  upload: UploadedObject,
): Promise<Change<PublishResult | { readonly outcome: 'drained' }>> {
  if (session.frozen) return unchanged({ outcome: 'frozen' });
  if (await publishQueuedOfNode(tx, session, upload.nodeInstanceId)) return changed({ outcome: 'drained' });
  return publishUploadWithin(tx, session, upload);
}

/** As {@link publishUpload}, inside the caller's change, for a node without queued uploads. */
export async function publishUploadWithin(
  tx: Tx,
  session: LockedSession,
  upload: UploadedObject,
): Promise<Change<Extract<PublishResult, { output: unknown }>>> {
  const { outcome, output } = await publishOutput(tx, session, upload, () =>
    removePendingObject(tx, upload.objectKey),
  );
  if (outcome === 'repeated') return unchanged({ outcome, output });
  await Promise.all([markPublished(tx, output), planSession(tx, session, upload.nodeInstanceId)]);
  return changed({ outcome, output });
}
