/** The reader of series with its folder of local copies: opened by the first request that needs it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { wholeNumber } from '../../domain/settings.ts';
import { SeriesReader } from '../series/reader.ts';

const mebibytes = 1024 * 1024;
const megabytes = (min: number, initial: number) => wholeNumber(min, 1_000_000_000).default(initial);

export const seriesSettings = z.object({
  /** Folder for local copies of recordings, used by one process only; absent: a temporary one. Its content may be deleted. */
  SERIES_CACHE_DIR: z.string().optional(),
  /** Parent folder of temporary folders. */
  TEMP_DIR: z.string().optional(),
  SERIES_CACHE_MB: megabytes(64, 2048),
  /** Longest file of an export, in megabytes; it is in the same folder until it is read. */
  SERIES_EXPORT_MB: megabytes(64, 4096),
  /** Memory limit of the process that reads series, in megabytes. */
  SERIES_MEMORY_MB: megabytes(256, 512),
});

export class SeriesService {
  readonly #settings: z.output<typeof seriesSettings>;
  #opened: Promise<SeriesReader> | undefined;
  #temporaryDir: string | undefined;

  constructor(settings: z.output<typeof seriesSettings>) {
    this.#settings = settings;
  }

  /** The reader. A failure to open is the caller's, and the next one tries again. */
  reader(): Promise<SeriesReader> {
    this.#opened ??= this.#open().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  async #open(): Promise<SeriesReader> {
    const { SERIES_CACHE_DIR, SERIES_CACHE_MB, SERIES_EXPORT_MB, SERIES_MEMORY_MB } = this.#settings;
    return await SeriesReader.open({
      cacheDir: SERIES_CACHE_DIR ?? (await this.#makeTemporaryDir()),
      maxCacheBytes: SERIES_CACHE_MB * mebibytes,
      maxExportBytes: SERIES_EXPORT_MB * mebibytes,
      memoryLimitBytes: SERIES_MEMORY_MB * mebibytes,
    });
  }

  async #makeTemporaryDir(): Promise<string> {
    this.#temporaryDir ??= await mkdtemp(join(this.#settings.TEMP_DIR ?? tmpdir(), 'sdp-series-'));
    return this.#temporaryDir;
  }

  /** Ends the reading process and removes a temporary folder. */
  async close(): Promise<void> {
    const reader = await this.#opened?.catch(() => undefined);
    await reader?.close();
    if (this.#temporaryDir !== undefined) await rm(this.#temporaryDir, { recursive: true, force: true });
  }
}
