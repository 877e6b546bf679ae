/**
 * Reads the points of a dashboard's channels: finds the recordings, reads them, and returns them in the order asked
 * for.
 */
import { createHash } from 'node:crypto';
import { Problem } from '../../domain/errors.ts';
import { quote } from '../../domain/issue.ts';
import type { DimensionChannel, DimensionSource } from '../../store/dashboards/dimensions.ts';
import { findDataSource } from '../../store/objects/data-sources.ts';
import { ObjectStoreError } from '../../store/objects/object-store.ts';
import {
  SeriesBusy,
  type SeriesRecording,
  type SeriesSource,
  SeriesTimeout,
  SeriesUnavailable,
  SourceBroken,
} from '../series/reader.ts';
import type { Services } from '../services.ts';
import { channelKey } from './present.ts';

export type SeriesQuestion = {
  readonly sources: readonly DimensionSource[];
  readonly channels: readonly string[];
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  readonly maxPoints: number;
  readonly signal: AbortSignal;
};

export type ChannelAnswer = {
  readonly channel: string;
  readonly name: string;
  readonly unit: string | null;
  readonly times: readonly number[];
  readonly values: readonly (number | string | boolean | null)[];
};

type Wanted = { readonly key: string; readonly source: DimensionSource; readonly channel: DimensionChannel };

/** The reader's buckets hold four points. */
const leastPoints = 4;

/**
 * @throws Problem 400 for a channel that the dashboard does not have, 502 for a recording that cannot be read, 503
 * with `Retry-After` while too many are read
 */
export async function readSeries(services: Services, question: SeriesQuestion): Promise<ChannelAnswer[]> {
  const wanted = findChannels(question);
  const sources = [...new Set(wanted.map((item) => item.source))];
  const reader = await services.series.reader();
  try {
    const found = await reader.read({
      sources: await Promise.all(sources.map((source) => toSeriesSource(services, source, wanted))),
      fromMs: question.from?.getTime(),
      toMs: question.to?.getTime(),
      maxPoints: Math.max(question.maxPoints, leastPoints),
      signal: question.signal,
    });
    const points = new Map(
      found.map((series) => [channelKey(sources[series.source]!, series.channel), series]),
    );
    return wanted.map(({ key, channel }) => ({
      channel: key,
      name: channel.name,
      unit: channel.unit,
      times: points.get(key)?.times ?? [],
      values: points.get(key)?.values ?? [],
    }));
  } catch (error) {
    throw toProblem(error);
  }
}

function findChannels({ sources, channels }: SeriesQuestion): Wanted[] {
  const known = new Map<string, Wanted>();
  for (const source of sources) {
    for (const channel of source.channels) {
      const key = channelKey(source, channel.id);
      known.set(key, { key, source, channel });
    }
  }
  return channels.map((key) => {
    const wanted = known.get(key);
    if (wanted !== undefined) return wanted;
    throw new Problem('invalidRequest', { message: `Channel ${quote(key)} is not part of this dashboard.` });
  });
}

async function toSeriesSource(
  services: Services,
  source: DimensionSource,
  wanted: readonly Wanted[],
): Promise<SeriesSource> {
  const dataSource = await findDataSource(services.database, source.dataSourceId);
  if (dataSource === undefined)
    throw new Problem('upstreamFailed', { cause: new Error('The data source is gone.') });
  const store = services.objects.of(dataSource);
  return {
    key: source.sha256 ?? keyOf(source),
    // Several callers may wait for the same copy, so the signal of one caller does not end the download.
    load: (path) => store.download(source.objectKey, path),
    description: source.description as SeriesRecording,
    channels: wanted.filter((item) => item.source === source).map((item) => item.channel.id),
  };
}

/** An object never changes under its key, so the key identifies bytes whose hash is not known. */
function keyOf({ dataSourceId, objectKey }: DimensionSource): string {
  return createHash('sha256').update(`${dataSourceId}/${objectKey}`).digest('hex');
}

function toProblem(error: unknown): unknown {
  if (error instanceof SeriesBusy || error instanceof SeriesTimeout || error instanceof SeriesUnavailable) {
    return new Problem('unavailable', { headers: { 'retry-after': '1' }, cause: error });
  }
  if (error instanceof SourceBroken || error instanceof ObjectStoreError) {
    return new Problem('upstreamFailed', { cause: error });
  }
  return error;
}
