/**
 * The requests of this process that write to resumable uploads. A new request makes the one before stop, wherever that
 * runs: at once in this process, and within a moment in another, which asks about its writers regularly.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { unaudited } from '../../store/connection/audit-scope.ts';
import type { Database } from '../../store/connection/database.ts';
import {
  acquireWriter,
  findResumableUpload,
  type ResumableUpload,
  releaseWriter,
  renewWriters,
} from '../../store/uploads/resumable-uploads.ts';

const checkEveryMs = 500;
const retryMs = 50;

/** Another request continues the upload. */
export class UploadInUse extends Error {
  constructor() {
    super('Another request continues the upload.');
    this.name = 'UploadInUse';
  }
}

export interface UploadWriter {
  readonly id: string;
  /** As it was when the request became its writer. */
  readonly upload: ResumableUpload;
  /** Aborted when another request waits for the upload. */
  readonly stop: AbortSignal;
}

interface Held {
  readonly uploadId: string;
  readonly stop: AbortController;
}

export class UploadWriters {
  readonly #database: Database;
  /** By the writer's id. */
  readonly #held = new Map<string, Held>();
  #timer: NodeJS.Timeout | undefined;
  #isChecking = false;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Runs work as the upload's only writer.
   * @param signal aborted when the caller hangs up
   * @returns null when the writer before finished the upload
   * @throws Problem `uploadNotFound`, `uploadBusy`; what `work` throws
   */
  async during<T>(
    { id: uploadId }: Pick<ResumableUpload, 'id'>,
    signal: AbortSignal,
    work: (writer: UploadWriter) => Promise<T>,
  ): Promise<T | null> {
    const id = randomUUID();
    const stop = new AbortController();
    try {
      const upload = await this.#acquire(id, uploadId, signal);
      if (upload === null) return null;
      this.#held.set(id, { uploadId, stop });
      this.#timer ??= unaudited(() => setInterval(() => void this.#check(), checkEveryMs).unref());
      return await work({ id, upload, stop: stop.signal });
    } finally {
      this.#held.delete(id);
      if (this.#held.size === 0) this.close();
      // Where this fails, the writer counts as gone soon.
      await releaseWriter(this.#database, uploadId, id).catch(() => undefined);
    }
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #acquire(id: string, uploadId: string, signal: AbortSignal): Promise<ResumableUpload | null> {
    const untilMs = performance.now() + limits.uploadWriterWaitSeconds * 1000;
    for (;;) {
      for (const held of this.#held.values())
        if (held.uploadId === uploadId) held.stop.abort(new UploadInUse());
      const upload = await acquireWriter(this.#database, uploadId, id, limits.uploadWriterGoneSeconds);
      if (upload !== undefined) return upload;
      const found = await findResumableUpload(this.#database, uploadId);
      if (found === undefined) throw new Problem('uploadNotFound');
      if (found.state === 'done') return null;
      if (performance.now() > untilMs || signal.aborted) throw uploadBusy();
      await sleep(retryMs);
    }
  }

  async #check(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    try {
      const asked = new Map([...this.#held].map(([id, { uploadId }]) => [id, uploadId]));
      const lost = await renewWriters(this.#database, asked);
      for (const id of lost) this.#held.get(id)?.stop.abort(new UploadInUse());
    } catch {
      // The next check asks again; the writes themselves are fenced.
    } finally {
      this.#isChecking = false;
    }
  }
}

export function uploadBusy(cause?: unknown): Problem {
  return new Problem('uploadBusy', { headers: { 'retry-after': '1' }, cause });
}
