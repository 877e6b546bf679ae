/** Removing multi-part uploads that are over, of tasks and resumable ones: their parts from the store, then their rows. */
import type { Queryable } from '../connection/database.ts';
import { findDataSource } from './data-sources.ts';
import { abortMultipart } from './multipart.ts';
import type { ObjectStores } from './object-stores.ts';

/** Uploads that are removed together. */
export const sweepBatch = 100;
const retrySeconds = 300;

export interface OverUpload {
  /** `done` ones are objects now, and keep their bytes. */
  readonly state: string;
  readonly dataSourceId: number;
  readonly objectKey: string;
  readonly storeUploadId: string | null;
}

/**
 * @param removeRow returns the number of rows removed
 * @param postponeRow has the row tried again after so many seconds
 * @returns the number of uploads removed
 */
export async function removeUploads<Upload extends OverUpload>(
  database: Queryable,
  stores: ObjectStores,
  uploads: readonly Upload[],
  removeRow: (upload: Upload) => Promise<number>,
  postponeRow: (upload: Upload, seconds: number) => Promise<unknown>,
): Promise<number> {
  let removed = 0;
  for (const upload of uploads) {
    try {
      if (upload.state !== 'done') await removeFromStore(database, stores, upload);
      removed += await removeRow(upload);
    } catch {
      // Later, so that one store that is down does not hold up the others.
      await postponeRow(upload, retrySeconds);
    }
  }
  return removed;
}

async function removeFromStore(database: Queryable, stores: ObjectStores, upload: OverUpload): Promise<void> {
  const dataSource = await findDataSource(database, upload.dataSourceId);
  if (dataSource === undefined) return;
  const store = stores.of(dataSource);
  if (upload.storeUploadId === null) await store.abortUploads(upload.objectKey);
  else await abortMultipart(store.multipart(upload.objectKey), upload.storeUploadId);
}
