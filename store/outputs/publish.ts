/** Publishing outputs: a published output has a position, is seen by readers and wakes the node's children. */
import type { Database, Tx } from '../connection/database.ts';
import { failpoint } from '../connection/failpoint.ts';
import { oncePerKey } from '../connection/idempotency.ts';
import { removePendingObject } from '../objects/pending-objects.ts';
import {
  type Change,
  changed,
  changeSessionWithin,
  type LockedSession,
  unchanged,
} from '../runs/change-session.ts';
import { planSession } from '../runs/plan-session.ts';
import type { NodeOutputRow, UploadedObject } from './outputs.ts';
import { countPublication, markPublished, publicationSteps, publishOutput } from './publish-output.ts';
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

/** A run's outputs published together. The caller writes the node's counters. */
export interface StagedPublication {
  readonly newest: { readonly id: number; readonly position: number };
  /** Of every one of them. */
  readonly createdAt: Date;
}

/**
 * Publishes what a run has staged, outputs in the order in which they were written, and annotations.
 * @returns undefined when no output was staged
 */
export async function publishStaged(
  tx: Tx,
  session: LockedSession,
  runId: string,
): Promise<StagedPublication | undefined> {
  const [row] = await tx.query<{ count: number; id: number; bytes: number }>(
    `with ${publicationSteps({ runId: '$1', after: '$2::bigint', at: '$3::timestamptz' })} select * from publication`,
    [runId, session.newestPosition, session.publishedAt],
  );
  const { count, id, bytes } = row!;
  if (count === 0) return undefined;
  countPublication(session, count, bytes);
  return { newest: { id, position: session.newestPosition }, createdAt: session.publishedAt };
}
