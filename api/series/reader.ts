/**
 * Series of recordings, downsampled for drawing (decisions 11, architecture 9). The recordings are Parquet files as the
 * tabular conversion writes them; they are copied from the store into a folder bounded in size, and read in a separate
 * process, which is started at the first request and again after each crash.
 */
import { mkdir, realpath } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { type CachedFile, CacheFolder } from './cache-folder.ts';
import { ChildDied, SeriesChild, SourceBroken } from './child-handle.ts';
import { ExportFiles } from './export-files.ts';
import { jobSource, type SeriesSource } from './job-source.ts';
import type {
  ExportJob,
  JobSource,
  PointsJob,
  ReadJob,
  ReadStatistics,
  ReadTrace,
  ResultOf,
  StatisticsJob,
  TracesJob,
} from './protocol.ts';
import type { Series } from './recording.ts';

export { SeriesBusy, SeriesRefused, SeriesTimeout, SeriesUnavailable, SourceBroken } from './child-handle.ts';
export { type SeriesSource, UnknownChannel } from './job-source.ts';
export type { Series, SeriesRecording } from './recording.ts';

export interface SeriesReaderSettings {
  /** A folder that only this process uses. It may be lost at any time. */
  cacheDir: string;
  /** The folder stays below this; one larger recording may exceed it while it is read. */
  maxCacheBytes: number;
  /** The longest file of an export. */
  maxExportBytes: number;
  /** The limit for the reading process as a whole; at least 256 MB make sense. */
  memoryLimitBytes: number;
  /** Default 20 s, without the download. */
  requestTimeoutMs?: number;
  /** Requests read at the same time; default 3, of one caller all but one. */
  concurrency?: number;
  /** Requests waiting for that; one more gets {@link SeriesBusy}. Default 64. */
  maxWaiting?: number;
}

export interface StatisticsRequest {
  sources: readonly SeriesSource[];
  /** Inclusive, milliseconds as the recording's times are. */
  fromMs?: number | undefined;
  toMs?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Whose share of the reading it uses. */
  caller?: string | undefined;
}

export interface SeriesRequest extends StatisticsRequest {
  /** For each channel: 4 to 100,000. */
  maxPoints: number;
}

/** A channel, or the id of a derived one, with its traces; without a split there is one, or none where there is no row. */
export interface ChannelTraces {
  /** Index of the source in the request. */
  source: number;
  channel: string;
  traces: readonly ReadTrace[];
}

export type ExportRequest = StatisticsRequest &
  Pick<ExportJob, 'format' | 'timesAre' | 'recordings' | 'columns'>;

export interface ChannelStatistics extends ReadStatistics {
  /** Index of the source in the request. */
  source: number;
  channel: string;
}

const bounds = { minPoints: 4, maxPoints: 100_000, allPoints: 4_000_000 };
const defaults = { requestTimeoutMs: 20_000, concurrency: 3, maxWaiting: 64 };
/** A process of its own, so that charts do not wait for files. */
const exporting = { requestTimeoutMs: 300_000, concurrency: 1, maxWaiting: 8 };
/** After this many crashes of the process during a request, the request counts as the cause. */
const maxTries = 2;

export class SeriesReader {
  readonly #folder: CacheFolder;
  readonly #child: SeriesChild;
  readonly #exports: SeriesChild;
  readonly #exportFiles: ExportFiles;

  private constructor(folder: CacheFolder, settings: SeriesReaderSettings) {
    this.#folder = folder;
    this.#exportFiles = new ExportFiles(settings.cacheDir, settings.maxExportBytes);
    this.#child = new SeriesChild({ ...defaults, ...settings });
    this.#exports = new SeriesChild({ ...settings, ...exporting });
  }

  /** Makes the folder ready; the process starts with the first request. */
  static async open(settings: SeriesReaderSettings): Promise<SeriesReader> {
    await mkdir(settings.cacheDir, { recursive: true });
    // The database compares real paths with the paths that it may read.
    const cacheDir = await realpath(settings.cacheDir);
    const folder = await CacheFolder.open(cacheDir, settings.maxCacheBytes);
    return new SeriesReader(folder, { ...settings, cacheDir });
  }

  /**
   * Reads channels of recordings: a channel with at most `maxPoints` rows in the range as its rows are; else first,
   * lowest, highest and last row of each of `maxPoints / 4` stretches of equal time. Nulls within rows stay; a stretch
   * without any value is one null. The result has an item for each channel of each source, in the order asked for.
   *
   * @throws RangeError, UnknownChannel for invalid requests; SeriesBusy, SeriesTimeout, SeriesUnavailable when it
   * cannot be read now; what `load` throws; the signal's reason
   */
  async read(request: SeriesRequest): Promise<Series[]> {
    const { maxPoints } = request;
    checkPoints(request);
    return this.#read<PointsJob, Series>(request, { what: 'points', maxPoints }, (points, place) => ({
      ...place,
      ...points,
    }));
  }

  /**
   * As `read`, and derived channels, points over another channel, one trace for each value of a step channel, and points of
   * the same rows for all channels of a source, which are all read row by row. At most 640,000 points of a recording: beyond
   * it each trace has fewer than `maxPoints`.
   *
   * @throws SeriesRefused when `x` falls within a trace, or `split` has too many values; else as `read` does
   */
  async traces(request: SeriesRequest & { sameRows?: boolean }): Promise<ChannelTraces[]> {
    const { maxPoints, sameRows = false } = request;
    checkPoints(request);
    const what = { what: 'traces' as const, maxPoints, sameRows };
    return this.#read<TracesJob, ChannelTraces>(request, what, (traces, place) => ({ ...place, traces }));
  }

  /**
   * Number, extremes, mean and spread of the values of channels, and how long each state lasted; in the order asked
   * for. It throws as `read` does.
   */
  async statistics(request: StatisticsRequest): Promise<ChannelStatistics[]> {
    return this.#read<StatisticsJob, ChannelStatistics>(request, { what: 'statistics' }, (found, place) => ({
      ...place,
      ...found,
    }));
  }

  /** The rows of channels as a file, which is removed once it has been read or given up. It throws as `read` does. */
  async export(request: ExportRequest): Promise<Readable> {
    const { format, timesAre, recordings, columns } = request;
    const what = { what: 'export' as const, format, timesAre, recordings, columns };
    return await this.#exportFiles.open(request.signal, (path, signal) =>
      this.#withSources(request, (window) =>
        this.#exports.read<ExportJob>({ ...what, ...window, path }, signal, request.caller),
      ),
    );
  }

  async #read<Job extends ReadJob, Answer>(
    request: StatisticsRequest,
    what: Omit<Job, 'sources' | 'fromMs' | 'toMs'>,
    answer: (result: ResultOf<Job>, place: { source: number; channel: string }) => Answer,
  ): Promise<Answer[]> {
    return this.#withSources(request, async (window) => {
      const results = await this.#tried({ ...what, ...window } as unknown as Job, request);
      return window.sources.flatMap(({ channels, derived }, source) =>
        [...channels, ...derived].map(({ id }, index) =>
          answer(results[source]?.[index] as ResultOf<Job>, { source, channel: id }),
        ),
      );
    });
  }

  /** Does work over local copies of the sources. */
  async #withSources<Result>(
    request: StatisticsRequest,
    work: (window: { sources: JobSource[]; fromMs: number | null; toMs: number | null }) => Promise<Result>,
  ): Promise<Result> {
    checkBounds(request);
    const asked = request.sources.map((source) => ({ source, found: jobSource(source) }));
    for (let isRepeat = false; ; isRepeat = true) {
      const held: CachedFile[] = [];
      try {
        for (const { source } of asked)
          held.push(await this.#folder.hold(source.key, source.load, request.signal));
        const sources = asked.map(
          ({ found }, index): JobSource => ({ path: (held[index] as CachedFile).path, ...found }),
        );
        const { fromMs = null, toMs = null } = request;
        return await work({ sources, fromMs, toMs });
      } catch (error) {
        // The copy may be damaged (a full disk, a power cut): it is fetched again, once.
        if (!(error instanceof SourceBroken) || isRepeat) throw error;
        await this.#folder.drop((asked[error.source] as (typeof asked)[number]).source.key);
      } finally {
        for (const { release } of held) release();
      }
    }
  }

  /** Ends the processes; open requests fail with SeriesUnavailable. */
  async close(): Promise<void> {
    await Promise.all([this.#child.close(), this.#exports.close()]);
  }

  async #tried<Job extends ReadJob>(
    job: Job,
    { signal, caller }: Pick<StatisticsRequest, 'signal' | 'caller'>,
  ): Promise<ResultOf<Job>[][]> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#child.read(job, signal, caller);
      } catch (error) {
        if (!(error instanceof ChildDied) || tries >= maxTries) throw error;
      }
    }
  }
}

function checkPoints({ maxPoints, sources }: SeriesRequest): void {
  if (!Number.isInteger(maxPoints) || maxPoints < bounds.minPoints || maxPoints > bounds.maxPoints) {
    throw new RangeError(`maxPoints must be an integer from ${bounds.minPoints} to ${bounds.maxPoints}.`);
  }
  const channels = sources.reduce((sum, source) => sum + source.channels.length, 0);
  if (channels * maxPoints > bounds.allPoints) {
    throw new RangeError(
      `At most ${bounds.allPoints} points are read at once; ask for fewer channels or points.`,
    );
  }
}

function checkBounds({ fromMs, toMs }: StatisticsRequest): void {
  for (const bound of [fromMs, toMs]) {
    if (bound !== undefined && !Number.isFinite(bound))
      throw new RangeError('Bounds of time must be finite.');
  }
}
