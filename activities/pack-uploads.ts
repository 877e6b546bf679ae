/** Packing small queued uploads of one session into bundled objects (decisions 8): thousands of tiny objects cost dearly. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { limits } from '../domain/limits.ts';
import { findDataSource } from '../store/objects/data-sources.ts';
import type { HeldObjects } from '../store/objects/held-objects.ts';
import { newObjectKey, type ObjectStore } from '../store/objects/object-store.ts';
import type { BundlePlace, QueuedUpload } from '../store/uploads/queued-uploads.ts';
import type { ActivityServices } from './services.ts';

/** Small objects that are read at once: each is held in memory as a whole. */
const readAhead = 8;

/**
 * Packs the small ones of a session's uploads, those of one data source together. What cannot be packed keeps its own
 * object: packing saves room, and nothing waits for it.
 * @param bundles holds the bundled objects: the caller releases those that are used
 * @returns where uploads lie now, by their ids; the others keep their own objects
 */
export async function packSmall(
  services: ActivityServices,
  bundles: HeldObjects,
  uploads: readonly QueuedUpload[],
  signal: AbortSignal,
): Promise<Map<number, BundlePlace>> {
  const places = new Map<number, BundlePlace>();
  for (const group of groupsToPack(uploads)) {
    const dataSource = await findDataSource(services.database, group[0]!.dataSourceId);
    if (dataSource === undefined) continue;
    const objectKey = newObjectKey('bundles');
    await bundles.begin({ objectKey, dataSource });
    try {
      await writeBundle(services.objects.of(dataSource), objectKey, group, signal);
    } catch (error) {
      await bundles.discard(objectKey);
      signal.throwIfAborted();
      services.log.warn({ err: error, uploads: group.length }, 'small uploads stay unpacked');
      continue;
    }
    let offset = 0;
    for (const upload of group) {
      places.set(upload.id, { objectKey, offset });
      offset += upload.sizeBytes;
    }
  }
  return places;
}

/** Groups of at least two small uploads of one data source, each group within the size of a bundle. */
function groupsToPack(uploads: readonly QueuedUpload[]): QueuedUpload[][] {
  const done: QueuedUpload[][] = [];
  const open = new Map<number, { group: QueuedUpload[]; sizeBytes: number }>();
  for (const upload of uploads) {
    if (upload.sizeBytes > limits.bundledUploadBytes) continue;
    let filling = open.get(upload.dataSourceId);
    if (filling === undefined || filling.sizeBytes + upload.sizeBytes > limits.bundleBytes) {
      filling = { group: [], sizeBytes: 0 };
      open.set(upload.dataSourceId, filling);
      done.push(filling.group);
    }
    filling.group.push(upload);
    filling.sizeBytes += upload.sizeBytes;
  }
  return done.filter((group) => group.length > 1);
}

async function writeBundle(
  store: ObjectStore,
  objectKey: string,
  uploads: readonly QueuedUpload[],
  signal: AbortSignal,
): Promise<void> {
  const declaredBytes = uploads.reduce((sum, upload) => sum + upload.sizeBytes, 0);
  const source = Readable.from(bytesOf(store, uploads, signal), { objectMode: false });
  try {
    await store.put(objectKey, source, { declaredBytes, signal });
  } finally {
    source.destroy();
  }
}

/** The bytes of the uploads, one after the other. Throws when a stored object is not what was acknowledged. */
async function* bytesOf(store: ObjectStore, uploads: readonly QueuedUpload[], signal: AbortSignal) {
  const reads: Promise<Buffer>[] = [];
  let next = 0;
  for (const _upload of uploads) {
    while (reads.length < readAhead && next < uploads.length) {
      const read = readWhole(store, uploads[next]!, signal);
      // A failed read is reported in its turn; when the turn never comes, no code awaits it.
      read.catch(() => undefined);
      reads.push(read);
      next += 1;
    }
    const bytes = await reads.shift()!;
    if (bytes.length > 0) yield bytes;
  }
}

async function readWhole(store: ObjectStore, upload: QueuedUpload, signal: AbortSignal): Promise<Buffer> {
  if (upload.sizeBytes === 0) return Buffer.alloc(0);
  const { stream } = await store.get(upload.objectKey, { signal });
  const bytes = await buffer(stream);
  const isWhole =
    bytes.length === upload.sizeBytes &&
    (upload.sha256 === null || createHash('sha256').update(bytes).digest('hex') === upload.sha256);
  if (!isWhole) throw new Error(`The object ${upload.objectKey} is not what was stored.`);
  return bytes;
}
