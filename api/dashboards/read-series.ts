/**
 * Reads points and statistics of a dashboard's channels: finds the recordings, reads them, and returns the answers in the
 * order asked for.
 */

import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { Problem } from '../../domain/errors.ts';
import { channelKey } from '../../domain/recordings/channel-key.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import type { DimensionSource } from '../../store/dashboards/dimension-sources.ts';
import { findDataSource } from '../../store/objects/data-sources.ts';
import { ObjectStoreError } from '../../store/objects/object-store.ts';
import { findOutput } from '../../store/outputs/outputs.ts';
import { limitPoints, sampleEvenly } from '../series/points.ts';
import type { Extreme, ReadTrace } from '../series/protocol.ts';
import {
  SeriesBusy,
  type SeriesReader,
  type SeriesRecording,
  SeriesRefused,
  type SeriesSource,
  SeriesTimeout,
  SeriesUnavailable,
  SourceBroken,
  type StatisticsRequest,
} from '../series/reader.ts';
import type { Services } from '../services.ts';
import { axisOf, type ChannelQuestion, findChannels } from './find-channels.ts';
import type { RequestedChannel } from './requested-channel.ts';
import type { seriesSchema, statisticsSchema } from './schema.ts';

type SeriesAnswer = z.input<typeof seriesSchema>['series'][number];
type StatisticsAnswer = z.input<typeof statisticsSchema>['statistics'][number];

type Answers<Answer> = {
  readonly answers: Answer[];
  /** The recordings that were read. */
  readonly sources: readonly DimensionSource[];
};

/** The reader's buckets hold four points; of these a caller may ask for fewer. */
const minPoints = 4;

/**
 * @throws Problem 400 for a channel that the dashboard does not have, 502 for a recording that cannot be read, 503
 * with `Retry-After` while too many are read
 */
export async function readSeries(
  services: Services,
  question: ChannelQuestion & { readonly maxPoints: number },
): Promise<Answers<SeriesAnswer>> {
  const maxPoints = Math.max(question.maxPoints, minPoints);
  const { derived = [], x, split, sameRows = false } = question;
  if (derived.length === 0 && x === undefined && split === undefined && !sameRows) {
    return ask(
      services,
      question,
      (reader, request) => reader.read({ ...request, maxPoints }),
      (wanted, { times, values }) => ({
        ...headOf(wanted),
        ...limitPoints({ times, values }, question.maxPoints),
      }),
    );
  }
  const { sources, answers } = await ask(
    services,
    question,
    (reader, request) => reader.traces({ ...request, maxPoints, sameRows }),
    (wanted, { traces }) =>
      traces.map((trace) => {
        const some = sameRows ? fewer(trace, question.maxPoints) : limitPoints(trace, question.maxPoints);
        return { ...headOf(wanted), ...presentTrace(some) };
      }),
  );
  return { sources, answers: answers.flat() };
}

/** The same rows of each channel. */
const fewer = ({ times, values }: ReadTrace, most: number): ReadTrace => ({
  times: sampleEvenly(times, most),
  values: sampleEvenly(values, most),
});

const headOf = ({ key, source, channel: { name, unit }, derived }: RequestedChannel) => ({
  channel: key,
  name,
  unit,
  ...(derived === undefined ? {} : { outputId: source.outputId }),
});

const presentTrace = ({ times, values, xs, trace }: ReadTrace) => ({
  times,
  values,
  ...(xs === undefined ? {} : { x: xs }),
  ...(trace === undefined
    ? {}
    : { trace: { value: trace.value!, from: isoOf(trace.from), to: isoOf(trace.to) } }),
});

const isoOf = (time: number) => formatTimestamp(new Date(time));

/** It throws as `readSeries` does. */
export async function readStatistics(
  services: Services,
  question: ChannelQuestion,
): Promise<Answers<StatisticsAnswer>> {
  return ask(
    services,
    question,
    (reader, request) => reader.statistics(request),
    ({ key, source, channel, derived }, { count, missing, min, max, mean, standardDeviation, states }) => ({
      key,
      name: channel.name,
      unit: channel.unit,
      ...(derived === undefined ? {} : { outputId: source.outputId }),
      count,
      missing,
      min: present(min),
      max: present(max),
      mean,
      standardDeviation,
      states,
    }),
  );
}

const present = (extreme: Extreme | null) =>
  extreme === null ? null : { value: extreme.value, at: isoOf(extreme.time) };

async function ask<Found extends { readonly source: number; readonly channel: string }, Answer>(
  services: Services,
  question: ChannelQuestion,
  read: (reader: SeriesReader, request: StatisticsRequest) => Promise<Found[]>,
  answer: (wanted: RequestedChannel, found: Found) => Answer,
): Promise<Answers<Answer>> {
  const wanted = findChannels(question);
  const sources = recordingsOf(wanted);
  const found = await readRecordings(services, question, wanted, read);
  const byKey = new Map(
    found.map((item) => [channelKey(sources[item.source]!.outputId, item.channel), item]),
  );
  return {
    sources,
    answers: wanted.map((item) =>
      answer(item, byKey.get(channelKey(item.source.outputId, item.channel.id))!),
    ),
  };
}

/** Each once, in the order of {@link readRecordings}. */
export const recordingsOf = (wanted: readonly RequestedChannel[]): DimensionSource[] => [
  ...new Set(wanted.map(({ source }) => source)),
];

/** Reads the recordings of these channels. It throws as `readSeries` does. */
export async function readRecordings<Result>(
  services: Services,
  question: ChannelQuestion,
  wanted: readonly RequestedChannel[],
  read: (reader: SeriesReader, request: StatisticsRequest) => Promise<Result>,
): Promise<Result> {
  const reader = await services.series.reader();
  const { from, to, signal, caller } = question;
  const sources = recordingsOf(wanted).map((source) => toSeriesSource(services, source, wanted, question));
  try {
    const request = { sources: await Promise.all(sources), fromMs: from?.getTime(), toMs: to?.getTime() };
    return await read(reader, { ...request, signal, caller });
  } catch (error) {
    throw toProblem(error);
  }
}

async function toSeriesSource(
  services: Services,
  source: DimensionSource,
  wanted: readonly RequestedChannel[],
  question: ChannelQuestion,
): Promise<SeriesSource> {
  const dataSource = await findDataSource(services.database, source.dataSourceId);
  if (dataSource === undefined)
    throw new Problem('upstreamFailed', { cause: new Error('The data source no longer exists.') });
  const store = services.objects.of(dataSource);
  const ofSource = wanted.filter((item) => item.source === source);
  return {
    key: keyOf(source),
    // Several callers may wait for the same copy, so the signal of one caller does not end the download.
    load: async (path) => {
      const found = await findOutput(services.database, source.outputId);
      const sizeBytes = found?.output.objectKey === source.objectKey ? found.output.sizeBytes : undefined;
      await store.download(source.objectKey, path, { sizeBytes });
    },
    description: source.description as SeriesRecording,
    channels: ofSource.filter(({ derived }) => derived === undefined).map(({ channel }) => channel.id),
    derived: ofSource.flatMap(({ channel: { id }, derived }) =>
      derived === undefined ? [] : [{ id, derived }],
    ),
    x: axisOf(question, source, 'x'),
    split: axisOf(question, source, 'split'),
  };
}

/**
 * The key of a recording's copy. The store belongs to it: what one store sends for a hash is not drawn for another's. An object
 * never changes under its key, so the key identifies bytes whose hash is not known.
 */
function keyOf({ dataSourceId, sha256, objectKey }: DimensionSource): string {
  return createHash('sha256')
    .update(`${dataSourceId}/${sha256 ?? objectKey}`)
    .digest('hex');
}

function toProblem(error: unknown): unknown {
  const headers = { 'retry-after': '1' };
  // No fault: its caller is only asked to wait.
  if (error instanceof SeriesBusy) return new Problem('unavailable', { headers });
  if (error instanceof SeriesTimeout || error instanceof SeriesUnavailable) {
    return new Problem('unavailable', { headers, cause: error });
  }
  if (error instanceof SeriesRefused) return new Problem('invalidRequest', { message: error.message });
  if (error instanceof SourceBroken || error instanceof ObjectStoreError) {
    return new Problem('upstreamFailed', { cause: error });
  }
  return error;
}
