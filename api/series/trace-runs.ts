/** The runs of rows over which a step channel keeps its value, and the traces that they make. */
import { quote } from '../../domain/issue.ts';
import { limits } from '../../domain/limits.ts';
import type { NamedChannel } from './protocol.ts';
import type { SeriesValue } from './recording.ts';
import { channelValue, type OpenSource, plain, type Range, rowsOf } from './scan.ts';

/** The question does not fit the recording; the message is a sentence for the caller. */
export class ReadRefused extends Error {}

/** Rows of one value of a step channel, or all rows. */
export interface Trace {
  readonly value: SeriesValue;
  rows: number;
  /** The range of the times, or of the values of the channel that points are drawn over. */
  from: number;
  to: number;
  fromMs: number;
  toMs: number;
}

/** Rows from a number on that belong to a trace; null: to none. */
export interface Run {
  readonly number: number;
  readonly trace: Trace | null;
}

/** A trace without rows. */
export const traceOf = (value: SeriesValue): Trace => ({
  value,
  rows: 0,
  from: Number.NaN,
  to: Number.NaN,
  fromMs: Number.NaN,
  toMs: Number.NaN,
});

/**
 * In the order of the rows. Reading stops at the first change too many, so a channel that is no step channel costs little.
 * @throws ReadRefused when the channel changes too often or has too many values
 */
export async function findRuns(
  { connection, path, inputs }: OpenSource,
  split: NamedChannel,
  range: Range,
): Promise<Run[]> {
  const channel = inputs.find(({ id }) => id === split.id);
  if (channel === undefined) throw new Error('The step channel is not among the inputs.');
  const value = channelValue(channel);
  const rows = await rowsOf(
    connection,
    `SELECT number, v FROM (
        SELECT file_row_number AS number, ${value} AS v, lag(${value}) OVER () AS before
        FROM read_parquet($1, file_row_number = true) WHERE t >= $2 AND t <= $3
      ) WHERE v IS DISTINCT FROM before LIMIT ${limits.traceChanges + 1}`,
    [path, range.fromMs, range.toMs],
  );
  if (rows.length > limits.traceChanges) {
    const name = quote(split.name);
    throw new ReadRefused(`Channel ${name} cannot split: it changes more than ${limits.traceChanges} times.`);
  }
  const traces = new Map<SeriesValue, Trace>();
  return rows.map(([number, found]) => {
    const text = plain(found);
    if (text === null) return { number: Number(number), trace: null };
    const trace = traces.get(text) ?? traceOf(text);
    traces.set(text, trace);
    if (traces.size > limits.traceValues) {
      const name = quote(split.name);
      throw new ReadRefused(`Channel ${name} cannot split: it has more than ${limits.traceValues} values.`);
    }
    return { number: Number(number), trace };
  });
}
