/**
 * Retention: acquires a requested run, or makes one a day by the clock, and removes what has expired in small
 * transactions. The next worker continues a run that a worker left half-way; everything is read anew, so nothing
 * depends on how far it was.
 */
import type { Logger } from 'pino';
import { limits } from '../domain/limits.ts';
import { isDatabaseAway } from '../domain/network/database-fault.ts';
import {
  deleteExpiredOutputs,
  deleteExpiredSession,
  listExpiredOutputs,
  listExpiredSessions,
} from '../store/administration/retention.ts';
import { acquireRetentionRun, endRetentionRun } from '../store/administration/retention-runs.ts';
import { advisoryLocks } from '../store/connection/advisory-locks.ts';
import type { Database } from '../store/connection/database.ts';
import { withLock } from '../store/connection/healer-lock.ts';
import type { ObjectStores } from '../store/objects/object-stores.ts';
import { findOrphans } from '../store/objects/orphans.ts';
import { type Loop, startLoop } from './loop.ts';

const checkEveryMs = 5_000;
const sessionsPerPage = 50;
const outputsPerBatch = 500;

export interface RetentionOptions {
  /** 0: only on request. */
  readonly everyHours: number;
  /** Only this platform uses the bucket and prefix. */
  readonly removesOrphans: boolean;
  readonly signal: AbortSignal;
}

/** Safe in several processes at once: only one works at a time. */
export function startRetention(
  database: Database,
  objects: ObjectStores,
  log: Logger,
  options: Omit<RetentionOptions, 'signal'>,
): Loop {
  return startLoop('retention', checkEveryMs, log, (signal) =>
    retainOnce(database, objects, log, { ...options, signal }),
  );
}

/** One round: does the run that is due, if there is one. */
export async function retainOnce(
  database: Database,
  objects: ObjectStores,
  log: Logger,
  options: RetentionOptions,
): Promise<void> {
  await withLock(database, advisoryLocks.retention, async () => {
    const run = await acquireRetentionRun(database, options.everyHours);
    if (run === undefined) return;
    const parts = { database, objects, log, runId: run.id, ...options };
    const errors = [await removeExpired(parts), await removeOrphans(parts)].filter((error) => error !== null);
    if (options.signal.aborted) return;
    const error = errors.length === 0 ? null : errors.join(' ');
    await endRetentionRun(database, run.id, error);
    log.info({ retentionRunId: run.id, error }, 'retention ended');
  });
}

interface Run extends RetentionOptions {
  readonly database: Database;
  readonly objects: ObjectStores;
  readonly log: Logger;
  readonly runId: number;
}

/** @returns what could not be removed */
async function removeExpired({ database, log, runId, signal }: Run): Promise<string | null> {
  const failed = new Set<string>();
  const inSession = async (sessionId: string, remove: () => Promise<unknown>) => {
    try {
      await remove();
    } catch (error) {
      // It would fail for every other session as well.
      if (isDatabaseAway(error)) throw error;
      failed.add(sessionId);
      log.warn({ retentionRunId: runId, sessionId, err: error }, 'expired data of a session was not removed');
    }
  };
  await everyPage(signal, async (after: string | null) => {
    const page = await listExpiredSessions(database, after, sessionsPerPage);
    for (const { sessionId } of page) {
      if (!signal.aborted) await inSession(sessionId, () => deleteExpiredSession(database, runId, sessionId));
    }
    return page.at(-1)?.sessionId ?? null;
  });
  await everyPage(signal, async (after: string | null) => {
    const page = await listExpiredOutputs(database, after, sessionsPerPage);
    for (const { sessionId } of page) {
      await inSession(sessionId, async () => {
        for (let removed = 1; removed > 0 && !signal.aborted; ) {
          removed = (await deleteExpiredOutputs(database, runId, sessionId, outputsPerBatch)).outputs;
        }
      });
    }
    return page.at(-1)?.sessionId ?? null;
  });
  if (failed.size === 0) return null;
  return `Sessions of which not all that expired was removed: ${failed.size}. The log of the workers says why; the next run tries again.`;
}

/** @returns what could not be read */
async function removeOrphans({
  database,
  objects,
  log,
  runId,
  removesOrphans,
  signal,
}: Run): Promise<string | null> {
  if (!removesOrphans) return null;
  try {
    await everyPage(signal, async (after: string | null) => {
      const olderThanSeconds = limits.orphanAgeSeconds;
      return (await findOrphans(database, objects, { after, olderThanSeconds, remove: { runId } })).next;
    });
    return null;
  } catch (error) {
    log.warn({ retentionRunId: runId, err: error }, 'the bucket could not be listed for orphans');
    return 'The bucket could not be listed; its orphans remain until the next run.';
  }
}

async function everyPage(signal: AbortSignal, page: (after: string | null) => Promise<string | null>) {
  for (let after: string | null = null; !signal.aborted; ) {
    after = await page(after);
    if (after === null) return;
  }
}
