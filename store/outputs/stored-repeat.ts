/** Repeats of uploads whose bytes the store still has. */
import type { Database } from '../connection/database.ts';
import { findDataSource } from '../objects/data-sources.ts';
import type { ObjectStores } from '../objects/object-stores.ts';
import type { NodeOutputRow } from './outputs.ts';
import { findRepeat, type RepeatedUpload } from './repeats.ts';

export interface Stores {
  readonly database: Database;
  readonly objects: ObjectStores;
}

type Upload = Parameters<typeof findRepeat>[1];

/** As {@link findRepeat}, for an answer that vouches for the bytes: what the store has lost repeats nothing. */
export async function findStoredRepeat(stores: Stores, upload: Upload): Promise<RepeatedUpload | undefined> {
  const repeat = await findRepeat(stores.database, upload);
  const isLost = repeat?.outcome === 'repeated' && (await forgetLost(stores, repeat.output));
  return isLost ? undefined : repeat;
}

/**
 * Before a transaction that would find a repeat: the upload then brings back bytes that the store has lost.
 * @returns whether they were lost
 */
export async function forgetLostRepeat(stores: Stores, upload: Upload): Promise<boolean> {
  const repeat = await findRepeat(stores.database, upload);
  return repeat?.outcome === 'repeated' && (await forgetLost(stores, repeat.output));
}

/** An output whose object the store has lost forgets its digest: the same bytes then replace it, as others would. */
async function forgetLost(stores: Stores, output: NodeOutputRow): Promise<boolean> {
  if (await isStored(stores, output)) return false;
  const forget = 'update node_output set sha256 = null where id = $1 and object_key = $2';
  await stores.database.query(forget, [output.id, output.objectKey]);
  return true;
}

/** True also where the store does not answer: an outage loses no bytes. */
async function isStored({ database, objects }: Stores, output: NodeOutputRow): Promise<boolean> {
  const dataSource = await findDataSource(database, output.dataSourceId);
  if (dataSource === undefined) return true;
  const store = objects.of(dataSource);
  return await store.exists(output.objectKey).catch(() => true);
}
