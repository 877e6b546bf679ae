/**
 * Retention: acquires a requested run, or makes one a day by the clock, and removes what has expired in small
 * transactions. The next worker continues a run that a worker left half-way; everything is read anew, so nothing
 * depends on how far it was.
 */
import type { Logger } from 'pino';
import { limits } from '../domain/limits.ts';
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
  const stopping = new AbortController();
  const loop = startLoop('retention', checkEveryMs, log, () =>
    retainOnce(database, objects, log, { ...options, signal: stopping.signal }),
  );
  return {
    async stop() {
      stopping.abort();
      await loop.stop();
    },
  };
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
    const error = await work(database, objects, run.id, options);
    if (options.signal.aborted) return;
    await endRetentionRun(database, run.id, error);
    log.info({ retentionRunId: run.id, error }, 'retention ended');
  });
}

/** @returns what could not be read */
async function work(
  database: Database,
  objects: ObjectStores,
  runId: number,
  { removesOrphans, signal }: RetentionOptions,
): Promise<string | null> {
  await everyPage(signal, async (after: string | null) => {
    const page = await listExpiredSessions(database, after, sessionsPerPage);
    for (const { sessionId } of page) {
      if (!signal.aborted) await deleteExpiredSession(database, runId, sessionId);
    }
    return page.at(-1)?.sessionId ?? null;
  });
  await everyPage(signal, async (after: string | null) => {
    const page = await listExpiredOutputs(database, after, sessionsPerPage);
    for (const { sessionId } of page) {
      for (let removed = 1; removed > 0 && !signal.aborted; ) {
        removed = (await deleteExpiredOutputs(database, runId, sessionId, outputsPerBatch)).outputs;
      }
    }
    return page.at(-1)?.sessionId ?? null;
  });
  if (!removesOrphans) return null;
  try {
    await everyPage(signal, async (after: string | null) => {
      const olderThanSeconds = limits.orphanAgeSeconds;
      return (await findOrphans(database, objects, { after, olderThanSeconds, remove: { runId } })).next;
    });
    return null;
  } catch {
    return 'The bucket could not be listed; its orphans remain until the next run.';
  }
}

async function everyPage(signal: AbortSignal, page: (after: string | null) => Promise<string | null>) {
  for (let after: string | null = null; !signal.aborted; ) {
    after = await page(after);
    if (after === null) return;
  }
}
