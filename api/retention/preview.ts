/** The dry run: the same queries as the real one, without its changes. */
import { limits } from '../../domain/limits.ts';
import {
  type ExpiredSession,
  listExpiredOutputs,
  listExpiredSessions,
} from '../../store/administration/retention.ts';
import { findOrphans, type OrphanPage } from '../../store/objects/orphans.ts';
import { countAbandonedObjects } from '../../store/objects/pending-objects.ts';
import type { Services } from '../services.ts';
import { storeProblem } from '../uploads/bytes-problem.ts';

const perPage = 1_000;

export async function previewRetention(
  { database, objects }: Pick<Services, 'database' | 'objects'>,
  withOrphans: boolean,
) {
  const sessions = await collect<ExpiredSession>((after) => listExpiredSessions(database, after, perPage));
  const outputs = await collect((after) => listExpiredOutputs(database, after, perPage));
  const orphans = { count: 0, bytes: 0 };
  let after: string | null = null;
  for (let pages = 0; withOrphans && pages < limits.retentionPagesListed; pages++) {
    const options = { after, olderThanSeconds: limits.orphanAgeSeconds, remove: null };
    const page: OrphanPage = await findOrphans(database, objects, options).catch((error) => {
      throw storeProblem(error);
    });
    orphans.count += page.orphans;
    orphans.bytes += page.bytes;
    after = page.next;
    if (after === null) break;
  }
  return {
    sessions: sessions.rows,
    outputs: outputs.rows,
    orphans: withOrphans ? orphans : null,
    abandonedUploads: await countAbandonedObjects(database, limits.uploadAbandonedSeconds),
    complete: sessions.isWhole && outputs.isWhole && after === null,
  };
}

async function collect<Row extends { readonly sessionId: string }>(
  page: (after: string | null) => Promise<Row[]>,
): Promise<{ readonly rows: readonly Row[]; readonly isWhole: boolean }> {
  const rows: Row[] = [];
  for (;;) {
    const found = await page(rows.at(-1)?.sessionId ?? null);
    rows.push(...found);
    if (found.length < perPage) return { rows, isWhole: true };
    if (rows.length >= limits.retentionSessionsCounted) return { rows, isWhole: false };
  }
}
