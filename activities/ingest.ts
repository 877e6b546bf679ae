/** The activity of the ingest workflow: publishing what is queued in a project. */
import { ApplicationFailure } from '@temporalio/activity';
import { failpoint } from '../store/connection/failpoint.ts';
import {
  hasQueuedUploads,
  publishQueued,
  type QueuedUpload,
  queuedUploads,
} from '../store/uploads/queued-uploads.ts';
import { activityNames } from '../workflows/contract.ts';
import { withHeartbeats } from './heartbeats.ts';
import { packSmall } from './pack-uploads.ts';
import type { ActivityServices } from './services.ts';

export interface IngestActivities {
  /**
   * Publishes uploads of the project, each node's in the order in which they were acknowledged, for a while. `more`:
   * uploads are still queued.
   */
  [activityNames.drainQueue](projectId: number): Promise<{ published: number; more: boolean }>;
}

/** Uploads that are read together: the small ones of a session among them are packed into one object. */
const drainedTogether = 500;
/** Uploads of a session that are published in one transaction, which holds the session for some ten milliseconds. */
const publishedTogether = 100;
/** After this long the workflow calls again, so that its history shows the progress. */
const drainForMs = 20_000;

export function createIngestActivities(services: ActivityServices): IngestActivities {
  return {
    async [activityNames.drainQueue](projectId) {
      const drain = { projectId, published: 0 };
      return await withHeartbeats(drain, async (signal) => {
        await drainProject(services, drain, signal);
        return { published: drain.published, more: await hasQueuedUploads(services.database, projectId) };
      });
    },
  };
}

async function drainProject(
  services: ActivityServices,
  drain: { readonly projectId: number; published: number },
  signal: AbortSignal,
): Promise<void> {
  const failed = new Set<string>();
  const untilMs = performance.now() + drainForMs;
  while (performance.now() < untilMs) {
    const uploads = await queuedUploads(services.database, drain.projectId, {
      limit: drainedTogether,
      exceptSessions: [...failed],
    });
    if (uploads.length === 0) break;
    for (const [sessionId, ofSession] of Map.groupBy(uploads, ({ sessionId }) => sessionId)) {
      signal.throwIfAborted();
      try {
        drain.published += await publishSession(services, sessionId, ofSession, signal);
      } catch (error) {
        signal.throwIfAborted();
        // The other sessions continue; this one is tried again with the activity.
        failed.add(sessionId);
        services.log.warn({ sessionId, err: error }, 'queued uploads could not be published');
      }
    }
  }
  if (failed.size > 0) {
    throw ApplicationFailure.retryable(`Uploads of ${failed.size} sessions could not be published.`);
  }
}

async function publishSession(
  services: ActivityServices,
  sessionId: string,
  uploads: readonly QueuedUpload[],
  signal: AbortSignal,
): Promise<number> {
  // Bundles that nothing uses are removed: another process has published their uploads, or publishing failed.
  return await services.pending.holdSeveral(async (bundles) => {
    const places = await packSmall(services, bundles, uploads, signal);
    if (places.size > 0) await failpoint('ingest-packed');
    const pendingBundles = new Set(Array.from(places.values(), ({ objectKey }) => objectKey));
    let published = 0;
    for (let from = 0; from < uploads.length; from += publishedTogether) {
      const ids = uploads.slice(from, from + publishedTogether).map(({ id }) => id);
      const done = await publishQueued(services.database, sessionId, ids, places, pendingBundles);
      for (const objectKey of done.usedBundles) {
        pendingBundles.delete(objectKey);
        bundles.release(objectKey);
      }
      published += done.published;
      if (done.heldBack > 0) throw new Error(`${done.heldBack} uploads wait for older ones of their nodes.`);
    }
    return published;
  });
}
