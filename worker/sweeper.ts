/** Removes objects that are unfinished or no longer needed, and their rows. */
import type { Logger } from 'pino';
import { limits } from '../domain/limits.ts';
import type { Database } from '../store/connection/database.ts';
import { sweepIdempotencyKeys } from '../store/connection/idempotency.ts';
import type { ObjectStores } from '../store/objects/object-stores.ts';
import { sweepAbandonedObjects } from '../store/objects/pending-objects.ts';
import { sweepSupersededOutputs } from '../store/outputs/versions.ts';
import { sweepTaskUploads } from '../store/runs/sweep-task-uploads.ts';
import { type Loop, startLoop } from './loop.ts';

const everyMs = 60_000;
const keysEveryMs = 3_600_000;
/** Longer than any statement takes. */
const supersededAfterSeconds = 300;

/** Safe in several processes at once: each step is a row that one of them acquires. */
export function startSweeper(
  database: Database,
  objects: ObjectStores,
  log: Logger,
  keptHours: number,
): Loop {
  let keysSweptAtMs = Number.NEGATIVE_INFINITY;
  const sweepKeysHourly = async () => {
    if (performance.now() - keysSweptAtMs < keysEveryMs) return;
    await sweepIdempotencyKeys(database);
    keysSweptAtMs = performance.now();
  };
  return startLoop('sweeper', everyMs, log, async () => {
    let removed = 0;
    for (let found = 1; found > 0; ) {
      const superseded = await sweepSupersededOutputs(database, { olderThanSeconds: supersededAfterSeconds });
      const uploads = await sweepTaskUploads(database, objects);
      const swept = await sweepAbandonedObjects(database, objects, {
        olderThanSeconds: limits.uploadAbandonedSeconds,
        keptHours,
      });
      removed += swept.deleted;
      found = superseded + uploads + swept.abandoned + swept.deleted;
    }
    await sweepKeysHourly();
    if (removed > 0) log.info({ objects: removed }, 'removed objects that nothing refers to');
  });
}
