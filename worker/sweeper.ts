/** Removes objects that nobody finished or nobody needs any more, and the rows that told of them. */
import type { Logger } from 'pino';
import { limits } from '../domain/limits.ts';
import type { Database } from '../store/database.ts';
import type { ObjectStores } from '../store/objects.ts';
import { sweepAbandonedObjects } from '../store/pending-objects.ts';
import { sweepSupersededOutputs } from '../store/superseded.ts';
import { sweepTaskUploads } from '../store/sweep-task-uploads.ts';
import { type Loop, startLoop } from './loop.ts';

const everyMs = 60_000;
/** Longer than any statement takes. */
const supersededAfterSeconds = 300;

/** Safe in several processes at once: each step is a row that one of them takes. */
export function startSweeper(
  database: Database,
  objects: ObjectStores,
  log: Logger,
  keptHours: number,
): Loop {
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
    if (removed > 0) log.info({ objects: removed }, 'removed objects that nothing refers to');
  });
}
