/**
 * Removes objects that are unfinished or no longer needed with their rows, spent idempotency keys, and old logs; and adds
 * up what the projects of a large platform hold. Records of runners that are long gone go by a loop of their own.
 */
import type { Logger } from 'pino';
import { limits } from '../domain/limits.ts';
import type { Database } from '../store/connection/database.ts';
import { sweepIdempotencyKeys } from '../store/connection/idempotency.ts';
import type { ObjectStores } from '../store/objects/object-stores.ts';
import { sweepAbandonedObjects } from '../store/objects/pending-objects.ts';
import { sweepSupersededOutputs } from '../store/outputs/versions.ts';
import { removeOldLogs } from '../store/run-logs/write-log.ts';
import { sweepRunnerTokens } from '../store/runners/ended-tokens.ts';
import { sweepRunnerInstances } from '../store/runners/runner-instances.ts';
import { sweepTaskUploads } from '../store/runs/sweep-task-uploads.ts';
import { measureStorage } from '../store/search/project-storage.ts';
import { sweepResumableUploads } from '../store/uploads/sweep-resumable-uploads.ts';
import { type Loop, startLoop } from './loop.ts';

const everyMs = 60_000;
const runnersEveryMs = 10 * 60_000;
const hourMs = 3_600_000;
/** Longer than any statement takes. */
const supersededAfterSeconds = 300;

/** Safe in several processes at once: each step is a row that one of them acquires. */
export function startSweeper(
  database: Database,
  objects: ObjectStores,
  log: Logger,
  kept: { readonly objectHours: number; readonly logDays: number },
): Loop {
  let sweptAtMs = Number.NEGATIVE_INFINITY;
  const sweepHourly = async () => {
    if (performance.now() - sweptAtMs < hourMs) return;
    await sweepIdempotencyKeys(database);
    await removeOldLogs(database, kept.logDays);
    await measureStorage(database);
    sweptAtMs = performance.now();
  };
  return startLoop('sweeper', everyMs, log, async (signal) => {
    let removed = 0;
    for (let found = 1; found > 0 && !signal.aborted; ) {
      const superseded = await sweepSupersededOutputs(database, { olderThanSeconds: supersededAfterSeconds });
      const uploads =
        (await sweepTaskUploads(database, objects)) + (await sweepResumableUploads(database, objects));
      const swept = await sweepAbandonedObjects(database, objects, {
        olderThanSeconds: limits.uploadAbandonedSeconds,
        keptHours: kept.objectHours,
      });
      removed += swept.deleted;
      found = superseded + uploads + swept.abandoned + swept.deleted;
    }
    if (!signal.aborted) await sweepHourly();
    if (removed > 0) log.info({ objects: removed }, 'removed unreferenced objects');
  });
}

/** Removes runner instances that were not seen for long, and runner tokens that ended long ago. */
export function startRunnerSweeper(database: Database, log: Logger): Loop {
  return startLoop('runner sweeper', runnersEveryMs, log, async () => {
    const instances = await sweepRunnerInstances(database);
    const tokens = await sweepRunnerTokens(database);
    if (instances + tokens > 0)
      log.info({ instances, tokens }, 'removed records of runners that are long gone');
  });
}
