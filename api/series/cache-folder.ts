/**
 * A folder of local copies of immutable objects, by their hash, bounded in size. The least recently used go first;
 * those in use stay. One process owns the folder; it outlives restarts, and the next start removes leftovers of broken
 * downloads.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, renameSync } from 'node:fs';
import { readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { SharedWork } from '../shared-work.ts';

interface Entry {
  sizeBytes: number;
  usedAtMs: number;
  users: number;
}

export interface CachedFile {
  path: string;
  /** Call once when the file is no longer read. */
  release(): void;
}

const keyShape = /^[0-9a-f]{64}$/;
const suffix = '.parquet';
/** The file's date stores the time of use across restarts; it is not written at each use. */
const datePrecisionMs = 60_000;

export class CacheFolder {
  readonly #dir: string;
  readonly #maxBytes: number;
  readonly #entries = new Map<string, Entry>();
  readonly #downloads = new SharedWork<void>();

  private constructor(dir: string, maxBytes: number) {
    this.#dir = dir;
    this.#maxBytes = maxBytes;
  }

  /** @param dir an existing folder */
  static async open(dir: string, maxBytes: number): Promise<CacheFolder> {
    const folder = new CacheFolder(dir, maxBytes);
    for (const name of await readdir(dir)) {
      const path = join(dir, name);
      const key = name.endsWith(suffix) ? name.slice(0, -suffix.length) : '';
      if (keyShape.test(key)) {
        const { size, mtimeMs } = await stat(path);
        folder.#entries.set(key, { sizeBytes: size, usedAtMs: mtimeMs, users: 0 });
      } else if (name.endsWith('.part')) await rm(path, { force: true });
    }
    await folder.#evict();
    return folder;
  }

  /** Total size of the files in bytes. */
  get sizeBytes(): number {
    return [...this.#entries.values()].reduce((sum, entry) => sum + entry.sizeBytes, 0);
  }

  /**
   * The local copy of an object. Of several callers one downloads; an abort ends only its own caller's wait.
   * @throws RangeError for a key that is no hash; what `load` throws
   */
  async hold(key: string, load: (path: string) => Promise<void>, signal?: AbortSignal): Promise<CachedFile> {
    if (!keyShape.test(key)) throw new RangeError('A cache key must be 64 hexadecimal digits.');
    signal?.throwIfAborted();
    for (;;) {
      const entry = this.#entries.get(key);
      if (entry !== undefined) return this.#held(key, entry);
      const download = this.#downloads.run(key, () => this.#download(key, load));
      // Who awaits it below may stop waiting; a failure must then not be an unhandled rejection.
      download.catch(() => undefined);
      await unlessAborted(download, signal);
    }
  }

  /** Drops an unreadable copy. */
  async drop(key: string): Promise<void> {
    if (this.#entries.has(key)) await this.#discard(key);
  }

  /** Frees the name at once, so that a new copy can arrive while the old one is still being removed. */
  async #discard(key: string): Promise<void> {
    this.#entries.delete(key);
    const path = this.#path(key);
    const part = join(this.#dir, `${key}.${randomUUID()}.part`);
    try {
      renameSync(path, part);
    } catch (error) {
      if (!existsSync(path)) return;
      throw error;
    }
    await rm(part, { force: true });
  }

  #path(key: string): string {
    return join(this.#dir, `${key}${suffix}`);
  }

  #held(key: string, entry: Entry): CachedFile {
    const path = this.#path(key);
    entry.users++;
    const now = Date.now();
    if (now - entry.usedAtMs > datePrecisionMs) utimes(path, now / 1000, now / 1000).catch(() => undefined);
    entry.usedAtMs = now;
    // The map's order is the order of use.
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    let isReleased = false;
    const release = () => {
      if (isReleased) return;
      isReleased = true;
      entry.users--;
      this.#evictLater();
    };
    return { path, release };
  }

  async #download(key: string, load: (path: string) => Promise<void>): Promise<void> {
    const part = join(this.#dir, `${key}.${randomUUID()}.part`);
    try {
      await load(part);
      const { size } = await stat(part);
      await rename(part, this.#path(key));
      // In use until its callers hold it; otherwise it might be evicted first.
      const entry = { sizeBytes: size, usedAtMs: Date.now(), users: 1 };
      this.#entries.set(key, entry);
      setImmediate(() => {
        entry.users--;
        this.#evictLater();
      });
    } catch (error) {
      await rm(part, { force: true });
      throw error;
    }
  }

  /** A copy that cannot be removed now is tried again at the next eviction. */
  #evictLater(): void {
    this.#evict().catch(() => undefined);
  }

  async #evict(): Promise<void> {
    let total = this.sizeBytes;
    const byUse = [...this.#entries].sort(([, a], [, b]) => a.usedAtMs - b.usedAtMs);
    for (const [key, entry] of byUse) {
      if (total <= this.#maxBytes) return;
      if (entry.users > 0) continue;
      total -= entry.sizeBytes;
      await this.#discard(key);
    }
  }
}

async function unlessAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return work;
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort);
  try {
    await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
