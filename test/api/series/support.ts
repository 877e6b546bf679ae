/** Shared by the tests of series: recordings converted from real and generated files, and a reader of them. */
import { createHash, randomUUID } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { TabularConfiguration } from '../../../activities/builtin/tabular/configuration.ts';
import { type Conversion, convertTabular } from '../../../activities/builtin/tabular/convert/convert.ts';
import { SeriesReader, type SeriesReaderSettings, type SeriesSource } from '../../../api/series/reader.ts';

export interface Recorded extends Conversion {
  path: string;
  key: string;
  /** How often the reader asked for the file. */
  loads: number;
}

/** A bench and its reader for a whole test file. Call it once at the top of the file. */
export async function seriesStage() {
  const bench = await SeriesBench.open();
  const reader = await bench.reader();
  afterAll(async () => {
    await reader.close();
    await bench.close();
  });
  return { bench, reader };
}

export class SeriesBench {
  readonly folder: string;
  readonly cacheDir: string;

  private constructor(folder: string) {
    this.folder = folder;
    this.cacheDir = join(folder, 'cache');
  }

  static async open(): Promise<SeriesBench> {
    return new SeriesBench(await mkdtemp(join(tmpdir(), 'sdp-series-')));
  }

  async close(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  reader(settings: Partial<SeriesReaderSettings> = {}): Promise<SeriesReader> {
    return SeriesReader.open({
      cacheDir: this.cacheDir,
      maxCacheBytes: 1024 ** 3,
      maxExportBytes: 1024 ** 3,
      memoryLimitBytes: 512 * 1024 * 1024,
      // On a busy machine a read may take longer than callers wait for one.
      requestTimeoutMs: 300_000,
      ...settings,
    });
  }

  /** Converts a text or the file at a path. */
  async record(
    content: string | { path: string },
    configuration: TabularConfiguration = {},
  ): Promise<Recorded> {
    const name = randomUUID();
    let inputPath = join(this.folder, `${name}.upload`);
    if (typeof content === 'object') inputPath = content.path;
    else await writeFile(inputPath, content);
    const workDir = join(this.folder, 'work');
    await mkdir(workDir, { recursive: true });
    const path = join(this.folder, `${name}.parquet`);
    const converted = await convertTabular({
      inputPath,
      contentType: null,
      outputIdentifier: name,
      source: { outputId: 1, outputIdentifier: name },
      configuration,
      outputPath: path,
      workDir,
      memoryLimitBytes: 512 * 1024 * 1024,
    });
    return { ...converted, path, key: createHash('sha256').update(name).digest('hex'), loads: 0 };
  }
}

/** The recording as a source of all its channels, or of some. */
export function sourceOf(recorded: Recorded, channels?: readonly string[]): SeriesSource {
  return {
    key: recorded.key,
    load: async (path) => {
      recorded.loads++;
      await copyFile(recorded.path, path);
    },
    description: recorded.description,
    channels: channels ?? recorded.description.channels.map((channel) => channel.id),
  };
}
