/**
 * Statistics of a part of one recording: whole blocks from its coarse level, the rows at the edges from its rows.
 * Recordings without moments in their coarse level are read row by row.
 */
import type { OverviewFile } from './overview.ts';
import type { DerivedChannel, ReadStatistics, StatisticsJob } from './protocol.ts';
import { openOverview, rangeWithin } from './read-source.ts';
import {
  type Channels,
  channelValue,
  type OpenSource,
  type Range,
  type RecordingFile,
  type SkippedRows,
  streamNumbers,
} from './scan.ts';
import { holdTimes, readHeldStates, type StateDuration, stateChanges } from './states.ts';
import { Tally } from './tally.ts';
import { streamValues } from './value-stream.ts';

type Channel = Channels[number];

/** The longest states of a channel are enough to see. */
const maxStates = 100;

export async function readStatistics(
  source: OpenSource,
  job: Pick<StatisticsJob, 'fromMs' | 'toMs'>,
): Promise<ReadStatistics[]> {
  const { channels, recording } = source;
  const range = rangeWithin(source, job);
  if (range.fromMs > range.toMs)
    return [...channels, ...source.derived].map((channel) => summary(channel, new Tally(), 0, []));
  const derived = await tallyDerived(source, range);
  if (channels.length === 0) return derived;
  const overview = await openOverview(source);
  try {
    const { tallies, rows, ends } = await tally(source, range, overview);
    const found: ReadStatistics[] = [];
    for (const [index, channel] of channels.entries()) {
      const held =
        isState(channel) && recording.time.sorted
          ? await heldStates(source, channel, range, overview, ends)
          : null;
      found.push(summary(channel, tallies[index] as Tally, rows, held));
    }
    return [...found, ...derived];
  } finally {
    await overview?.close();
  }
}

/** All from the rows. */
async function tallyDerived(source: OpenSource, range: Range): Promise<ReadStatistics[]> {
  const { derived } = source;
  if (derived.length === 0) return [];
  const tallies = derived.map(() => new Tally());
  let rows = 0;
  const ids = derived.map(({ id }) => id);
  await streamValues(source, ids, range, ({ times, columns, rows: count }) => {
    rows += count;
    for (const [index, tally] of tallies.entries()) tally.addRows(times, columns[index] as Float64Array);
  });
  return derived.map((one, index) => summary(one, tallies[index] as Tally, rows, null));
}

/** A derived channel has numbers. */
const isState = (channel: Channel | DerivedChannel) =>
  'type' in channel && (channel.type === 'text' || channel.type === 'boolean');

interface Tallied {
  readonly tallies: readonly Tally[];
  readonly rows: number;
  /** Times of the first and the last row; null where there is none. */
  readonly ends: Ends | null;
}

interface Ends {
  readonly first: number;
  readonly last: number;
}

/** The values of each channel; of states only their number counts. */
async function tally(source: OpenSource, range: Range, overview: OverviewFile | null): Promise<Tallied> {
  const { channels } = source;
  const tallies = channels.map(() => new Tally());
  const scan = async (chosen: readonly number[], leftOut?: SkippedRows) => {
    const seen = { rows: 0, first: Number.POSITIVE_INFINITY, last: Number.NEGATIVE_INFINITY };
    const values = chosen.map((index) => presentValue(channels[index] as Channel));
    const add = ([times, ...columns]: readonly Float64Array[], count: number) => {
      seen.rows += count;
      for (const time of times as Float64Array) {
        if (time < seen.first) seen.first = time;
        if (time > seen.last) seen.last = time;
      }
      for (const [at, column] of columns.entries())
        (tallies[chosen[at] as number] as Tally).addRows(times as Float64Array, column);
    };
    await streamNumbers(source, values, range, add, leftOut);
    return seen;
  };
  const all = channels.map((_, index) => index);
  const blocks = overview?.hasMoments === true ? overview.wholeBlocks(range.fromMs, range.toMs) : null;
  if (blocks === null || overview === null) {
    const seen = await scan(all);
    return { tallies, rows: seen.rows, ends: seen.rows === 0 ? null : seen };
  }
  const isCoarse = (index: number) => overview.has((channels[index] as Channel).column);
  const fine = all.filter((index) => !isCoarse(index));
  if (fine.length > 0) await scan(fine);
  const coarse = all.filter(isCoarse);
  for (const index of coarse)
    await overview.addTo(tallies[index] as Tally, (channels[index] as Channel).column, blocks);
  const span = overview.span(blocks);
  const { before, behind } = overview.edges(blocks, range.fromMs, range.toMs);
  if (before === null && behind === null) return { tallies, rows: blocks.rows, ends: span };
  // Rows of equal times may lie on both sides of a border of blocks, so the edges go by the numbers of rows.
  const { blockRows } = overview;
  const seen = await scan(coarse, { first: blocks.first * blockRows, end: (blocks.last + 1) * blockRows });
  return {
    tallies,
    rows: blocks.rows + seen.rows,
    ends: { first: Math.min(span.first, seen.first), last: Math.max(span.last, seen.last) },
  };
}

/** SQL of a number; of states one that says that there is a value. */
function presentValue(channel: Channel): string {
  const value = channelValue(channel);
  return isState(channel) ? `CASE WHEN ${channel.column} IS NOT NULL THEN 0 END` : value;
}

/** How long each state lasted; null for texts that hardly repeat. */
async function heldStates(
  file: RecordingFile,
  channel: Channel,
  range: Range,
  overview: OverviewFile | null,
  ends: Ends | null,
): Promise<StateDuration[] | null> {
  if (channel.type === 'text' && overview?.isFreeText(channel.column) === true) return null;
  const changes = (await overview?.changes(channel.column)) ?? null;
  if (changes === null || overview === null) return readHeldStates(file, channel, range);
  if (ends === null) return [];
  const points = stateChanges(changes, ends.first, ends.last, Number.POSITIVE_INFINITY);
  return points === null ? [] : holdTimes(points);
}

function summary(
  channel: Channel | DerivedChannel,
  tally: Tally,
  rows: number,
  held: StateDuration[] | null,
): ReadStatistics {
  const { count } = tally;
  const missing = rows - count;
  if (!isState(channel)) {
    const { min, max, mean, standardDeviation } = tally;
    return { count, missing, min, max, mean, standardDeviation, states: null };
  }
  const nothing = { min: null, max: null, mean: null, standardDeviation: null };
  if (held === null) return { count, missing, ...nothing, states: null };
  const whole = held.reduce((sum, { ms }) => sum + ms, 0);
  const states = held
    .toSorted((a, b) => b.ms - a.ms || (a.text < b.text ? -1 : 1))
    .slice(0, maxStates)
    .map(({ text, ms }) => ({
      value: 'type' in channel && channel.type === 'boolean' ? text === 'true' : text,
      ms,
      share: whole > 0 ? ms / whole : 1 / held.length,
    }));
  return { count, missing, ...nothing, states };
}
