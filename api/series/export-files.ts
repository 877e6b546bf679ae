/**
 * Files of exports, each in the folder of copies until it is read. A text that repeats takes a few bytes of a recording and
 * all of its length in each row of a csv file, so files are measured while they grow.
 */
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { limits } from '../../domain/limits.ts';
import { SeriesBusy, SeriesRefused, SeriesUnavailable } from './child-handle.ts';

const checkEveryMs = 100;
/** What stays free on the disk for its other users: often the database is one. */
const reserveBytes = 1024 ** 3;
/** The folder removes files with this ending when it is opened. */
const suffix = '.part';
/** The file of an export, and those that it is put together from. */
const exportName = /^(export-[0-9a-f-]{36})(?:\.\d+)?\.part$/;

export class ExportFiles {
  readonly #folder: string;
  readonly #maxBytes: number;
  /** The names of exports that are written or read. */
  readonly #names = new Set<string>();

  /** @param maxBytes of the file of each export */
  constructor(folder: string, maxBytes: number) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
  }

  /**
   * The bytes of a file that `work` writes; it is removed once it has been read or given up.
   * @param work writes it to the path, and perhaps parts of it to `<path without .part>.<number>.part`
   * @throws SeriesBusy, SeriesRefused for a file that grows too long, SeriesUnavailable while the disk is nearly full; what
   * `work` throws
   */
  async open(
    signal: AbortSignal | undefined,
    work: (path: string, signal: AbortSignal) => Promise<unknown>,
  ): Promise<Readable> {
    // A slow reader holds its file, which may have gigabytes.
    if (this.#names.size >= limits.exportsAtOnce) throw new SeriesBusy('Too many exports at once.');
    const name = `export-${randomUUID()}`;
    this.#names.add(name);
    try {
      await this.#removeAbandoned();
      await this.#measured(name, signal, (within) => work(join(this.#folder, name + suffix), within));
    } catch (error) {
      await this.#remove(name);
      throw error;
    }
    return createReadStream(join(this.#folder, name + suffix)).once('close', () => this.#remove(name));
  }

  async #measured(
    name: string,
    signal: AbortSignal | undefined,
    work: (signal: AbortSignal) => Promise<unknown>,
  ): Promise<void> {
    const over = new AbortController();
    const done = new AbortController();
    const measuring = this.#measure(name, over, done.signal);
    try {
      await work(signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]));
    } finally {
      done.abort();
      await measuring;
    }
    const fault = await this.#faultOf(name);
    if (fault !== undefined) throw fault;
  }

  async #measure(name: string, over: AbortController, done: AbortSignal): Promise<void> {
    while (!done.aborted && !over.signal.aborted) {
      await delay(checkEveryMs, undefined, { signal: done }).catch(() => undefined);
      // A failed read is repeated: parts come and go.
      const fault = await this.#faultOf(name).catch(() => undefined);
      if (fault !== undefined) over.abort(fault);
    }
  }

  async #faultOf(name: string): Promise<Error | undefined> {
    const sizes = (await this.#filesOf((one) => one === name)).map(async (file) => {
      const state = await stat(join(this.#folder, file)).catch(() => undefined);
      return state?.size ?? 0;
    });
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    if (bytes > this.#maxBytes) {
      const most = Math.floor(this.#maxBytes / 1024 ** 2);
      return new SeriesRefused(
        `The export is longer than ${most} MB. Ask for fewer channels, a shorter time, or Parquet.`,
      );
    }
    const { bavail, bsize } = await statfs(this.#folder);
    if (bavail * bsize >= reserveBytes) return undefined;
    return new SeriesUnavailable('The disk has no room for an export.');
  }

  /** What a process left that was killed while it wrote. */
  async #removeAbandoned(): Promise<void> {
    const files = await this.#filesOf((one) => !this.#names.has(one));
    await Promise.all(files.map((file) => rm(join(this.#folder, file), { force: true })));
  }

  async #remove(name: string): Promise<void> {
    this.#names.delete(name);
    await this.#removeAbandoned().catch(() => undefined);
  }

  async #filesOf(isWanted: (name: string) => boolean): Promise<string[]> {
    const files = await readdir(this.#folder);
    return files.filter((file) => {
      const [, name] = exportName.exec(file) ?? [];
      return name !== undefined && isWanted(name);
    });
  }
}
