/**
 * Statistics of a part of one recording: whole blocks from its coarse level, the rows at the edges from its rows.
 * Recordings without moments in their coarse level are read row by row.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { OverviewFile } from './overview.ts';
import type { DerivedChannel, JobSource, ReadPoints, ReadStatistics, StatisticsJob } from './protocol.ts';
import { openOverview, rangeWithin } from './read-source.ts';
import { type Channels, channelValue, edgeTimes, type Range, streamNumbers } from './scan.ts';
import { type Held, holdTimes, readHeldStates, stateChanges } from './states.ts';
import { Tally } from './tally.ts';
import { streamValues } from './value-stream.ts';

type Channel = Channels[number];

/** The longest states of a channel are enough to see. */
const mostStates = 100;

export async function readStatistics(
  connection: DuckDBConnection,
  source: JobSource,
  job: Pick<StatisticsJob, 'fromMs' | 'toMs'>,
): Promise<ReadStatistics[]> {
  const { channels, recording } = source;
  const range = rangeWithin(source, job);
  if (range.fromMs > range.toMs)
    return [...channels, ...source.derived].map((channel) => summary(channel, new Tally(), 0, []));
  const derived = await tallyDerived(connection, source, range);
  if (channels.length === 0) return derived;
  const overview = await openOverview(source);
  try {
    const { tallies, rows } = await tally(connection, source, range, overview);
    const found: ReadStatistics[] = [];
    const ends = endsOf(connection, source, range, overview);
    for (const [index, channel] of channels.entries()) {
      const held =
        isState(channel) && recording.time.sorted
          ? await heldStates(connection, source, channel, range, overview, ends)
          : null;
      found.push(summary(channel, tallies[index] as Tally, rows, held));
    }
    return [...found, ...derived];
  } finally {
    await overview?.close();
  }
}

/** All from the rows. */
async function tallyDerived(
  connection: DuckDBConnection,
  source: JobSource,
  range: Range,
): Promise<ReadStatistics[]> {
  const { derived } = source;
  if (derived.length === 0) return [];
  const tallies = derived.map(() => new Tally());
  let rows = 0;
  const ids = derived.map(({ id }) => id);
  await streamValues(connection, source, ids, range, ({ times, columns, rows: count }) => {
    rows += count;
    for (const [index, tally] of tallies.entries()) tally.addRows(times, columns[index] as Float64Array);
  });
  return derived.map((one, index) => summary(one, tallies[index] as Tally, rows, null));
}

/** A derived channel has numbers. */
const isState = (channel: Channel | DerivedChannel) =>
  'type' in channel && (channel.type === 'text' || channel.type === 'boolean');

/** The values of each channel; of states only their number counts. */
async function tally(
  connection: DuckDBConnection,
  source: JobSource,
  range: Range,
  overview: OverviewFile | null,
): Promise<{ tallies: Tally[]; rows: number }> {
  const { path, channels } = source;
  const tallies = channels.map(() => new Tally());
  const blocks = overview?.hasMoments === true ? overview.wholeBlocks(range.fromMs, range.toMs) : null;
  const coarse = (channel: Channel) => blocks !== null && overview?.has(channel.column) === true;
  const scan = async (chosen: readonly number[], part: Range, numbers?: { first: number; end: number }) => {
    let rows = 0;
    const values = chosen.map((index) => presentValue(channels[index] as Channel));
    const add = ([times, ...columns]: readonly Float64Array[], count: number) => {
      rows += count;
      for (const [at, column] of columns.entries())
        (tallies[chosen[at] as number] as Tally).addRows(times as Float64Array, column);
    };
    await streamNumbers(connection, path, values, part, add, numbers);
    return rows;
  };
  const all = channels.map((_, index) => index);
  const fine = all.filter((index) => !coarse(channels[index] as Channel));
  if (blocks === null || overview === null) return { tallies, rows: await scan(all, range) };
  if (fine.length > 0) await scan(fine, range);
  const rest = all.filter((index) => !fine.includes(index));
  for (const index of rest)
    await overview.addTo(tallies[index] as Tally, (channels[index] as Channel).column, blocks);
  const { before, behind } = overview.edges(blocks, range.fromMs, range.toMs);
  const end = (blocks.last + 1) * overview.blockRows;
  // Rows of equal times may lie on both sides of a border of blocks, so the edges go by the numbers of rows too.
  let rows = blocks.rows;
  if (before !== null)
    rows += await scan(rest, spanOf(before), { first: 0, end: blocks.first * overview.blockRows });
  if (behind !== null)
    rows += await scan(rest, spanOf(behind), { first: end, end: source.recording.rowCount });
  return { tallies, rows };
}

const spanOf = ([fromMs, toMs]: [number, number]): Range => ({ fromMs, toMs });

/** SQL of a number; of states one that says that there is a value. */
function presentValue(channel: Channel): string {
  const value = channelValue(channel);
  return isState(channel) ? `CASE WHEN ${channel.column} IS NOT NULL THEN 0 END` : value;
}

/** Times of the first and the last row; null where there is none. */
type Ends = [number | null, number | null];

/** Read at most once for all channels, and not at all for a whole recording. */
function endsOf(
  connection: DuckDBConnection,
  { path, recording }: JobSource,
  range: Range,
  overview: OverviewFile | null,
): () => Promise<Ends> {
  const { from, to } = recording.time;
  let read: Promise<Ends> | undefined;
  return () => {
    if (overview === null || (range.fromMs === from && range.toMs === to)) return Promise.resolve([from, to]);
    read ??= edgeTimes(connection, path, overview.firstAndLast(range.fromMs, range.toMs));
    return read;
  };
}

/** How long each state lasted; null for texts that hardly repeat. */
async function heldStates(
  connection: DuckDBConnection,
  { path }: JobSource,
  channel: Channel,
  range: Range,
  overview: OverviewFile | null,
  ends: () => Promise<Ends>,
): Promise<Held[] | null> {
  if (channel.type === 'text' && overview?.isFreeText(channel.column) === true) return null;
  const changes = (await overview?.changes(channel.column)) ?? null;
  if (changes === null || overview === null) return readHeldStates(connection, path, channel, range);
  const [first, last] = await ends();
  const points =
    first === null || last === null ? null : stateChanges(changes, first, last, Number.POSITIVE_INFINITY);
  return holdTimes(points ?? ({ times: [], values: [] } satisfies ReadPoints));
}

function summary(
  channel: Channel | DerivedChannel,
  tally: Tally,
  rows: number,
  held: Held[] | null,
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
    .slice(0, mostStates)
    .map(({ text, ms }) => ({
      value: 'type' in channel && channel.type === 'boolean' ? text === 'true' : text,
      ms,
      share: whole > 0 ? ms / whole : 1 / held.length,
    }));
  return { count, missing, ...nothing, states };
}
