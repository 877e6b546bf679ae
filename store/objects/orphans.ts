/**
 * Objects of the platform's own bucket without a row: left by a database that was restored from a backup, or by rows
 * that were removed by hand. Only keys of our own form are read, never one younger than a day, and none whose upload is
 * under way: that has a row before its first byte.
 */

import type { Database } from '../connection/database.ts';
import { findDataSourceByName, platformDataSourceName } from './data-sources.ts';
import { objectKinds } from './object-store.ts';
import type { ObjectStores } from './object-stores.ts';

const keyForm = /^[a-z]+\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** In the order of their keys. */
const prefixes = [...objectKinds].sort().map((kind) => `${kind}/`);

/** Whether no row knows the object key `k.key`. */
const isUnknown = `
  not exists (select from node_output o where o.object_key = k.key)
  and not exists (select from node_output_superseded v where v.object_key = k.key)
  and not exists (select from queued_upload q where q.object_key = k.key)
  and not exists (select from pending_object w where w.object_key = k.key)
  and not exists (select from task_upload u where u.object_key = k.key)
  and not exists (select from report_file f where f.object_key = k.key)
  and not exists (select from object_deletion d where d.object_key = k.key)`;

export interface OrphanPage {
  /** The orphans on this page. */
  readonly orphans: number;
  readonly bytes: number;
  /** Where the next page begins; null when the listing is at its end. */
  readonly next: string | null;
}

/**
 * One page of the bucket's listing: counts its orphans, and queues them for deletion when `remove` is set.
 * @param after `next` of the page before
 * @throws ObjectStoreError
 */
export async function findOrphans(
  database: Database,
  stores: ObjectStores,
  options: {
    readonly after: string | null;
    readonly olderThanSeconds: number;
    readonly remove: { readonly runId: number } | null;
  },
): Promise<OrphanPage> {
  const source = await findDataSourceByName(database, platformDataSourceName);
  if (source === undefined) return { orphans: 0, bytes: 0, next: null };
  const after = options.after ?? prefixes[0]!;
  const prefix = prefixes.findLast((begin) => begin <= after)!;
  const page = await stores.of(source).list(prefix, after);
  const before = Date.now() - options.olderThanSeconds * 1000;
  const old = page.objects.filter(
    ({ key, modifiedAt }) => keyForm.test(key) && modifiedAt.getTime() < before,
  );
  const values = [old.map(({ key }) => key), old.map(({ sizeBytes }) => sizeBytes)];
  const listed = `unnest($1::text[], $2::bigint[]) as k (key, size)`;
  const [found] =
    options.remove === null
      ? await database.query<{ orphans: number; bytes: number }>(
          `select count(*)::int as orphans, coalesce(sum(k.size), 0)::float8 as bytes from ${listed} where ${isUnknown}`,
          values,
        )
      : await database.query<{ orphans: number; bytes: number }>(
          `with orphan as (select k.key, k.size from ${listed} where ${isUnknown}), queued as (
             insert into object_deletion (data_source_id, object_key) select $3::bigint, key from orphan
           ), total as (select count(*)::int as orphans, coalesce(sum(size), 0)::bigint as bytes from orphan),
           counted as (
             update retention_run r set orphans = r.orphans + t.orphans, bytes = r.bytes + t.bytes
               from total t where r.id = $4::bigint
           )
           select orphans, bytes::float8 as bytes from total`,
          [...values, source.id, options.remove.runId],
        );
  return {
    orphans: found?.orphans ?? 0,
    bytes: found?.bytes ?? 0,
    next: page.next ?? prefixes[prefixes.indexOf(prefix) + 1] ?? null,
  };
}
