/** The series of one recording: chooses between its rows, buckets of its rows, and its coarse level. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { readNumberBuckets } from './buckets.ts';
import { type Changes, OverviewFile } from './overview.ts';
import { PointList, pointsPerBucket } from './points.ts';
import type { JobSource, PointsJob, ReadPoints, Window } from './protocol.ts';
import {
  type Channels,
  countRows,
  edgeTimes,
  type Range,
  readChanges,
  readRows,
  readTextBuckets,
} from './scan.ts';
import { stateChanges } from './states.ts';

/** Two buckets of the coarse reading are kept for the rows at the edges of the range. */
const edgeBuckets = 2;
/** Rows of a block that lasts as long are read themselves: so few such blocks have room in a range. */
const longBlockBuckets = 4;

export async function readSource(
  connection: DuckDBConnection,
  source: JobSource,
  job: Pick<PointsJob, 'fromMs' | 'toMs' | 'maxPoints'>,
): Promise<ReadPoints[]> {
  const { path, recording, channels } = source;
  const range = rangeWithin(source, job);
  if (channels.length === 0 || range.fromMs > range.toMs)
    return channels.map(() => ({ times: [], values: [] }));
  const isWhole = range.fromMs === recording.time.from && range.toMs === recording.time.to;
  const overview = await openOverview(source);
  try {
    const blocks = overview?.wholeBlocks(range.fromMs, range.toMs) ?? null;
    const atLeast = isWhole ? recording.rowCount : (blocks?.rows ?? 0);
    const rows = isWhole || atLeast > job.maxPoints ? atLeast : await countRows(connection, path, range);
    if (rows <= job.maxPoints)
      return await readRows(connection, path, channels, range, recording.time.sorted);
    const found = new Map<string, ReadPoints>();
    for (const channel of recording.time.sorted ? channels : []) {
      if (channel.type !== 'text') continue;
      const known = (await overview?.changes(channel.column)) ?? null;
      const changes =
        known === null || overview === null
          ? await readChanges(connection, path, channel, range, job.maxPoints)
          : await knownChanges(connection, overview, known, path, range, job.maxPoints);
      if (changes !== null) found.set(channel.id, changes);
    }
    const rest = channels.filter((channel) => !found.has(channel.id));
    const buckets = Math.max(1, Math.floor(job.maxPoints / pointsPerBucket));
    const hasEnough = blocks !== null && buckets > edgeBuckets && blocks.last - blocks.first + 1 >= buckets;
    const read =
      rest.length === 0
        ? []
        : overview !== null && hasEnough
          ? await readMixed(connection, overview, blocks, path, rest, range, buckets)
          : await readBuckets(connection, path, rest, range, buckets);
    for (const [index, channel] of rest.entries()) found.set(channel.id, read[index] as ReadPoints);
    return channels.map((channel) => found.get(channel.id) as ReadPoints);
  } finally {
    await overview?.close();
  }
}

/** The part of a recording that lies in a window. */
export function rangeWithin({ recording }: JobSource, { fromMs, toMs }: Window): Range {
  return {
    fromMs: Math.max(fromMs ?? Number.NEGATIVE_INFINITY, recording.time.from),
    toMs: Math.min(toMs ?? Number.POSITIVE_INFINITY, recording.time.to),
  };
}

/** Null for recordings that are short or unsorted. */
export async function openOverview({ path, recording }: JobSource): Promise<OverviewFile | null> {
  if (recording.overview === undefined || !recording.time.sorted) return null;
  return OverviewFile.open(path, recording.overview);
}

/**
 * Numbers, truth values and states from the coarse level, with rows at the edges and where rows are rare; the others from
 * the rows.
 */
async function readMixed(
  connection: DuckDBConnection,
  overview: OverviewFile,
  blocks: { first: number; last: number },
  path: string,
  channels: Channels,
  range: Range,
  buckets: number,
): Promise<ReadPoints[]> {
  const coarse = channels.filter((channel) => overview.has(channel.column));
  const fine = channels.filter((channel) => !overview.has(channel.column));
  const edges = overview.edges(blocks, range.fromMs, range.toMs);
  const edge = async (times: [number, number] | null): Promise<ReadPoints[]> =>
    times === null || coarse.length === 0
      ? []
      : readBuckets(connection, path, coarse, { fromMs: times[0], toMs: times[1] }, 1);
  const parts = [await edge(edges.before)];
  const whole = overview.span(blocks);
  const wholeMs = whole.last - whole.first;
  const runs = overview.runs(blocks, (longBlockBuckets * wholeMs) / buckets);
  // Each run has one bucket at the least.
  const free = buckets - edgeBuckets - (runs.length - 1);
  for (const run of runs) {
    const { first, last } = overview.span(run);
    const share = Math.max(1, Math.floor(wholeMs > 0 ? (free * (last - first)) / wholeMs : free));
    parts.push(
      run.isLong
        ? await readBuckets(connection, path, coarse, { fromMs: first, toMs: last }, share)
        : await Promise.all(
            coarse.map(async (channel) => {
              const { points } = await overview.points(channel.column, run, share);
              return decoded(overview, channel, points);
            }),
          ),
    );
  }
  parts.push(await edge(edges.behind));
  const found = new Map<string, ReadPoints>();
  for (const [index, channel] of coarse.entries()) {
    const list = new PointList();
    for (const part of parts) if (part[index] !== undefined) list.append(part[index]);
    found.set(channel.id, list.points);
  }
  const rest = fine.length === 0 ? [] : await readBuckets(connection, path, fine, range, buckets);
  for (const [index, channel] of fine.entries()) found.set(channel.id, rest[index] as ReadPoints);
  return channels.map((channel) => found.get(channel.id) as ReadPoints);
}

/** Buckets of the rows themselves, of channels of any type. */
async function readBuckets(
  connection: DuckDBConnection,
  path: string,
  channels: Channels,
  range: Range,
  buckets: number,
): Promise<ReadPoints[]> {
  const texts = channels.filter(({ type }) => type === 'text');
  const numbers = channels.filter(({ type }) => type !== 'text');
  const read = new Map<string, ReadPoints>();
  for (const [some, reader] of [
    [texts, readTextBuckets],
    [numbers, readNumberBuckets],
  ] as const) {
    if (some.length === 0) continue;
    const points = await reader(connection, path, some, range, buckets);
    for (const [index, { id }] of some.entries()) read.set(id, points[index] as ReadPoints);
  }
  return channels.map(({ id }) => read.get(id) as ReadPoints);
}

/** Converts numbers of the coarse level to their values. */
async function decoded(
  overview: OverviewFile,
  { column, type }: Channels[number],
  { times, values }: ReadPoints,
): Promise<ReadPoints> {
  if (type === 'boolean')
    return { times, values: values.map((value) => (value === null ? null : value === 1)) };
  if (type !== 'text') return { times, values };
  const texts = await overview.texts(column);
  return { times, values: values.map((value) => (value === null ? null : (texts[Number(value)] ?? null))) };
}

/** Changes from the coarse level; only the first and the last row are read. */
async function knownChanges(
  connection: DuckDBConnection,
  overview: OverviewFile,
  changes: Changes,
  path: string,
  range: Range,
  maxPoints: number,
): Promise<ReadPoints | null> {
  const places = overview.firstAndLast(range.fromMs, range.toMs);
  const [first, last] = await edgeTimes(connection, path, places);
  return first === null || last === null ? null : stateChanges(changes, first, last, maxPoints);
}
