/** The series of one recording: chooses between its rows, buckets of its rows, and its coarse level. */
import { readNumberBuckets } from './buckets.ts';
import { type Blocks, type Changes, OverviewFile } from './overview.ts';
import { PointList, pointsPerBucket } from './points.ts';
import type { JobSource, PointsJob, ReadPoints, Window } from './protocol.ts';
import {
  type Channels,
  countRows,
  edgeTimes,
  type OpenSource,
  type Range,
  type RecordingFile,
  readChanges,
  readRows,
  readTextBuckets,
} from './scan.ts';
import { stateChanges } from './states.ts';

/** The coarse reading needs one for the rows at each edge of the range. */
const edgeBuckets = 2;
/** Rows of a block that lasts as long are read themselves: so few such blocks have room in a range. */
const longBlockBuckets = 4;

export async function readSource(
  source: OpenSource,
  job: Pick<PointsJob, 'fromMs' | 'toMs' | 'maxPoints'>,
): Promise<ReadPoints[]> {
  const { recording, channels } = source;
  const range = rangeWithin(source, job);
  if (channels.length === 0 || range.fromMs > range.toMs)
    return channels.map(() => ({ times: [], values: [] }));
  const isWhole = range.fromMs === recording.time.from && range.toMs === recording.time.to;
  const overview = await openOverview(source);
  try {
    const blocks = overview?.wholeBlocks(range.fromMs, range.toMs) ?? null;
    const atLeast = isWhole ? recording.rowCount : (blocks?.rows ?? 0);
    const rows = isWhole || atLeast > job.maxPoints ? atLeast : await countRows(source, range);
    if (rows <= job.maxPoints) return await readRows(source, channels, range, recording.time.sorted);
    const found = new Map<string, ReadPoints>();
    for (const channel of recording.time.sorted ? channels : []) {
      if (channel.type !== 'text') continue;
      const known = (await overview?.changes(channel.column)) ?? null;
      const changes =
        known === null || overview === null
          ? await readChanges(source, channel, range, job.maxPoints)
          : await knownChanges(source, { overview, changes: known }, range, job.maxPoints);
      if (changes !== null) found.set(channel.id, changes);
    }
    const rest = channels.filter((channel) => !found.has(channel.id));
    const buckets = Math.max(1, Math.floor(job.maxPoints / pointsPerBucket));
    const hasEnough = blocks !== null && buckets > edgeBuckets && blocks.last - blocks.first + 1 >= buckets;
    const read =
      rest.length === 0
        ? []
        : overview !== null && hasEnough
          ? await readMixed(source, { overview, blocks }, rest, range, buckets)
          : await readBuckets(source, rest, range, buckets);
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
  file: RecordingFile,
  { overview, blocks }: { readonly overview: OverviewFile; readonly blocks: Blocks },
  channels: Channels,
  range: Range,
  buckets: number,
): Promise<ReadPoints[]> {
  const coarse = channels.filter((channel) => overview.has(channel.column));
  const fine = channels.filter((channel) => !overview.has(channel.column));
  const longMs = (longBlockBuckets * (range.toMs - range.fromMs)) / buckets;
  const stretches = stretchesOf(overview, blocks, range, longMs);
  const shares = sharesOf(
    stretches.map(({ fromMs, toMs }) => toMs - fromMs),
    buckets,
  );
  const parts: ReadPoints[][] = [];
  for (const [index, { fromMs, toMs, known }] of stretches.entries()) {
    const share = shares[index] as number;
    const coarsePoints = async (channel: Channels[number], of: Blocks) =>
      decoded(overview, channel, (await overview.points(channel.column, of, share)).points);
    parts.push(
      known === null
        ? await readBuckets(file, coarse, { fromMs, toMs }, share)
        : await Promise.all(coarse.map((channel) => coarsePoints(channel, known))),
    );
  }
  const found = new Map<string, ReadPoints>();
  for (const [index, channel] of coarse.entries()) {
    const list = new PointList();
    for (const part of parts) if (part[index] !== undefined) list.append(part[index]);
    found.set(channel.id, list.points);
  }
  const rest = fine.length === 0 ? [] : await readBuckets(file, fine, range, buckets);
  for (const [index, channel] of fine.entries()) found.set(channel.id, rest[index] as ReadPoints);
  return channels.map((channel) => found.get(channel.id) as ReadPoints);
}

interface Stretch extends Range {
  /** What the coarse level knows of it; null: its rows are read. */
  readonly known: Blocks | null;
}

/** A range in the order of time: the rows at its edges, and its blocks. Rows of blocks that last longer than `longMs` are read. */
function stretchesOf(overview: OverviewFile, blocks: Blocks, range: Range, longMs: number): Stretch[] {
  const { before, behind } = overview.edges(blocks, range.fromMs, range.toMs);
  const ofRows = (times: [number, number] | null): Stretch[] =>
    times === null ? [] : [{ fromMs: times[0], toMs: times[1], known: null }];
  const runs = overview.runs(blocks, longMs).map((run): Stretch => {
    const { first, last } = overview.span(run);
    return { fromMs: first, toMs: last, known: run.isLong ? null : run };
  });
  return [...ofRows(before), ...runs, ...ofRows(behind)];
}

/** Shares out buckets by length: one each at the least, and what is left to the longest. */
function sharesOf(lengths: readonly number[], buckets: number): number[] {
  const whole = lengths.reduce((sum, length) => sum + length, 0) || 1;
  const shares = lengths.map((length) =>
    Math.max(1, Math.floor(((buckets - lengths.length) * length) / whole)),
  );
  const left = buckets - shares.reduce((sum, share) => sum + share, 0);
  const longest = lengths.indexOf(Math.max(...lengths));
  return shares.map((share, index) => (index === longest ? share + left : share));
}

/** Buckets of the rows themselves, of channels of any type. */
async function readBuckets(
  file: RecordingFile,
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
    const points = await reader(file, some, range, buckets);
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
  file: RecordingFile,
  { overview, changes }: { readonly overview: OverviewFile; readonly changes: Changes },
  range: Range,
  maxPoints: number,
): Promise<ReadPoints | null> {
  const places = overview.firstAndLast(range.fromMs, range.toMs);
  const [first, last] = await edgeTimes(file, places);
  return first === null || last === null ? null : stateChanges(changes, first, last, maxPoints);
}
