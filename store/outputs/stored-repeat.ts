/** Repeats of uploads whose bytes the store still has. */
import type { Database } from '../connection/database.ts';
import { findDataSource } from '../objects/data-sources.ts';
import type { ObjectStores } from '../objects/object-stores.ts';
import type { NodeOutputRow } from './outputs.ts';
import { findRepeat, type RepeatedUpload } from './repeats.ts';

interface Stores {
  readonly database: Database;
  readonly objects: ObjectStores;
}

/**
 * As {@link findRepeat}, for an answer that vouches for the bytes. An output whose object the store has lost forgets its
 * digest: the same bytes then replace it, as other bytes would.
 */
export async function findStoredRepeat(
  stores: Stores,
  upload: Parameters<typeof findRepeat>[1],
): Promise<RepeatedUpload | undefined> {
  const { database } = stores;
  const repeat = await findRepeat(database, upload);
  if (repeat?.outcome !== 'repeated' || (await isStored(stores, repeat.output))) return repeat;
  const { id, objectKey } = repeat.output;
  const forget = 'update node_output set sha256 = null where id = $1 and object_key = $2';
  await database.query(forget, [id, objectKey]);
  return undefined;
}

/** True also where the store does not answer: an outage loses no bytes. */
async function isStored({ database, objects }: Stores, output: NodeOutputRow): Promise<boolean> {
  const dataSource = await findDataSource(database, output.dataSourceId);
  if (dataSource === undefined) return true;
  const store = objects.of(dataSource);
  return await store.exists(output.objectKey).catch(() => true);
}
