/**
 * Series of recordings, downsampled for drawing (decisions 11, architecture 9). The recordings are Parquet files as the
 * tabular conversion writes them; they are copied from the store into a folder bounded in size, and read in a separate
 * process, which is started at the first request and again after each crash.
 */
import { mkdir, realpath } from 'node:fs/promises';
import { CacheFolder, type Held } from './cache-folder.ts';
import { ChildDied, SeriesChild, SourceBroken } from './child-handle.ts';
import type { ReadJob } from './protocol.ts';
import type { Series, SeriesRecording } from './recording.ts';

export { SeriesBusy, SeriesTimeout, SeriesUnavailable, SourceBroken } from './child-handle.ts';
export type { Series, SeriesRecording } from './recording.ts';

export interface SeriesReaderSettings {
  /** A folder that only this process uses. It may be lost at any time. */
  cacheDir: string;
  /** The folder stays below this; one larger recording may exceed it while it is read. */
  maxCacheBytes: number;
  /** Of the reading process as a whole; at least 256 MB make sense. */
  memoryLimitBytes: number;
  /** Default 20 s, without the download. */
  requestTimeoutMs?: number;
  /** Requests read at the same time; default 2. */
  concurrency?: number;
  /** Requests waiting for that; one more gets {@link SeriesBusy}. Default 64. */
  maxWaiting?: number;
}

export interface SeriesSource {
  /** Hash of the object, 64 hexadecimal digits: the same key means the same bytes for ever. */
  key: string;
  /** Downloads the object to a path. Called when the folder lacks it, once for callers at the same time. */
  load: (path: string) => Promise<void>;
  description: SeriesRecording;
  /** Ids of channels of the description. */
  channels: readonly string[];
}

export interface SeriesRequest {
  sources: readonly SeriesSource[];
  /** Inclusive, milliseconds as the recording's times are. */
  fromMs?: number | undefined;
  toMs?: number | undefined;
  /** For each channel: 4 to 100,000. */
  maxPoints: number;
  signal?: AbortSignal | undefined;
}

/** A channel that the recording does not have. */
export class UnknownChannel extends Error {}

const limits = { smallestPoints: 4, largestPoints: 100_000, allPoints: 4_000_000 };
const defaults = { requestTimeoutMs: 20_000, concurrency: 2, maxWaiting: 64 };
/** After this many crashes of the process during a request, the request counts as the cause. */
const maxTries = 2;

export class SeriesReader {
  readonly #folder: CacheFolder;
  readonly #child: SeriesChild;

  private constructor(folder: CacheFolder, child: SeriesChild) {
    this.#folder = folder;
    this.#child = child;
  }

  /** Makes the folder ready; the process starts with the first request. */
  static async open(settings: SeriesReaderSettings): Promise<SeriesReader> {
    await mkdir(settings.cacheDir, { recursive: true });
    // The database compares real paths with the paths that it may read.
    const cacheDir = await realpath(settings.cacheDir);
    const folder = await CacheFolder.open(cacheDir, settings.maxCacheBytes);
    return new SeriesReader(folder, new SeriesChild({ ...defaults, ...settings, cacheDir }));
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
    check(request);
    const asked = request.sources.map((source) => ({ source, channels: channelsOf(source) }));
    for (let isRepeat = false; ; isRepeat = true) {
      const held: Held[] = [];
      try {
        for (const { source } of asked)
          held.push(await this.#folder.hold(source.key, source.load, request.signal));
        const points = await this.#tried(
          {
            sources: asked.map(({ source, channels }, index) => ({
              path: (held[index] as Held).path,
              recording: recordingOf(source.description),
              channels,
            })),
            fromMs: request.fromMs ?? null,
            toMs: request.toMs ?? null,
            maxPoints: request.maxPoints,
          },
          request.signal,
        );
        return asked.flatMap(({ channels }, source) =>
          channels.map(
            (channel, index): Series => ({
              source,
              channel: channel.id,
              times: points[source]?.[index]?.times ?? [],
              values: points[source]?.[index]?.values ?? [],
            }),
          ),
        );
      } catch (error) {
        // The copy may be damaged (a full disk, a power cut): it is fetched again, once.
        if (!(error instanceof SourceBroken) || isRepeat) throw error;
        await this.#folder.drop((asked[error.source] as (typeof asked)[number]).source.key);
      } finally {
        for (const { release } of held) release();
      }
    }
  }

  /** Ends the process; open requests fail with SeriesUnavailable. */
  async close(): Promise<void> {
    await this.#child.close();
  }

  async #tried(job: ReadJob, signal: AbortSignal | undefined) {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#child.read(job, signal);
      } catch (error) {
        if (!(error instanceof ChildDied) || tries >= maxTries) throw error;
      }
    }
  }
}

function check(request: SeriesRequest): void {
  const { maxPoints, sources, fromMs, toMs } = request;
  if (!Number.isInteger(maxPoints) || maxPoints < limits.smallestPoints || maxPoints > limits.largestPoints) {
    throw new RangeError(
      `maxPoints must be an integer from ${limits.smallestPoints} to ${limits.largestPoints}.`,
    );
  }
  for (const bound of [fromMs, toMs]) {
    if (bound !== undefined && !Number.isFinite(bound))
      throw new RangeError('Bounds of time must be finite.');
  }
  const channels = sources.reduce((sum, source) => sum + source.channels.length, 0);
  if (channels * maxPoints > limits.allPoints) {
    throw new RangeError(
      `At most ${limits.allPoints} points are read at once; ask for fewer channels or points.`,
    );
  }
}

function channelsOf(source: SeriesSource): SeriesRecording['channels'] {
  const byId = new Map(source.description.channels.map((channel) => [channel.id, channel]));
  return source.channels.map((id) => {
    const channel = byId.get(id);
    if (channel === undefined)
      throw new UnknownChannel(`The recording has no channel ${JSON.stringify(id)}.`);
    return { id: channel.id, type: channel.type, column: channel.column };
  });
}

function recordingOf(description: SeriesRecording): ReadJob['sources'][number]['recording'] {
  const { rowCount, time, overview } = description;
  return {
    rowCount,
    time: { from: time.from, to: time.to, sorted: time.sorted },
    ...(overview === undefined ? {} : { overview }),
  };
}
