/** From a whole resumable upload to a managed ingest to what the ingest makes of it: once, by any writer of the upload. */
import type { Ingest } from '../entities/ingest.ts';
import type { Stores } from '../outputs/stored-repeat.ts';
import type { AssembledObject } from '../uploads/finish-resumable-upload.ts';
import { endResumableUpload, type HeldUpload, type UploadEnd } from '../uploads/resumable-uploads.ts';
import { type AcceptedUpload, type FeedResult, feedIngest, isAccepted } from './feed-ingest.ts';
import { AlreadyIngested } from './ingested-files.ts';

/** What became of a whole upload; `known`: its file was ingested before. */
export type UploadOutcome = FeedResult | { readonly outcome: 'known' };

/**
 * Performs the ingest, and ends the upload in the same transaction.
 * @throws WriterLost
 */
export async function ingestWhole(
  stores: Stores,
  held: HeldUpload,
  object: AssembledObject,
  ingest: Ingest,
): Promise<UploadOutcome> {
  const { database } = stores;
  let isSettled = false;
  try {
    const fed = await feedIngest(stores, ingest, object, async (tx, result) => {
      await endResumableUpload(tx, held, endOf(result));
      isSettled = true;
    });
    // A repeat that waits in the queue is found before any transaction.
    if (!isSettled && isAccepted(fed)) await endResumableUpload(database, held, endOf(fed));
    return fed;
  } catch (error) {
    if (!(error instanceof AlreadyIngested)) throw error;
    const { nodeInstanceId, outputId } = error.place;
    await endResumableUpload(database, held, { nodeInstanceId, outputId, isUsed: false });
    return { outcome: 'known' };
  }
}

function endOf(fed: AcceptedUpload): UploadEnd {
  if (!('output' in fed))
    return { nodeInstanceId: fed.nodeInstanceId, outputId: null, isUsed: fed.outcome === 'queued' };
  const { nodeInstanceId, id } = fed.output;
  return { nodeInstanceId, outputId: id, isUsed: fed.outcome !== 'repeated' };
}
