/** Reading the rows of a recording with DuckDB: as they are, or as buckets of one pass over all asked channels. */
import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api';
import { doublesOf } from '../../domain/outputs/recording.ts';
import { PointList } from './points.ts';
import type { JobSource, ReadPoints } from './protocol.ts';
import type { SeriesRecording, SeriesValue } from './recording.ts';

export type Channels = SeriesRecording['channels'];

export interface Range {
  fromMs: number;
  toMs: number;
}

/** The rows of a recording, and what reads them. */
export interface RecordingFile {
  readonly connection: DuckDBConnection;
  readonly path: string;
}

/** A source of a job, its recording open. */
export interface OpenSource extends JobSource, RecordingFile {}

/** Longer texts are cut: a series is for drawing. */
const textCharacters = 1024;

/** A text in SQL. */
export const textOf = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** Rows that are left out, by their numbers: from the first to before the end. */
export interface SkippedRows {
  readonly first: number;
  readonly end: number;
}

/**
 * Reads the times and some values of a range as they stand in the file, chunk by chunk; NaN where empty. One query for the
 * rows on both sides of those left out: a row group that holds both is decoded once, two are decoded at once.
 */
export async function streamNumbers(
  { connection, path }: RecordingFile,
  values: readonly string[],
  range: Range,
  onRows: (vectors: readonly Float64Array[], rows: number) => void | Promise<void>,
  leftOut?: SkippedRows,
): Promise<void> {
  const columns = ['t', ...values.map((value) => `coalesce(CAST(${value} AS DOUBLE), 'nan'::DOUBLE)`)];
  const within =
    leftOut === undefined
      ? ''
      : `AND (file_row_number < ${leftOut.first} OR file_row_number >= ${leftOut.end})`;
  const result = await connection.stream(
    `SELECT ${columns.join(', ')} FROM read_parquet($1, file_row_number = true)
      WHERE t >= $2 AND t <= $3 ${within}`,
    [path, range.fromMs, range.toMs],
  );
  for (;;) {
    const chunk = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) return;
    await onRows(
      columns.map((_, index) => doublesOf(chunk.getColumnVector(index))),
      chunk.rowCount,
    );
  }
}

export async function countRows({ connection, path }: RecordingFile, range: Range): Promise<number> {
  const [row] = await rowsOf(connection, `SELECT count(*) FROM read_parquet($1) WHERE t >= $2 AND t <= $3`, [
    path,
    range.fromMs,
    range.toMs,
  ]);
  return Number(row?.[0] ?? 0);
}

/** Times of the first and the last row within two ranges; null where there is none. */
export async function edgeTimes(
  { connection, path }: RecordingFile,
  { first, last }: { readonly first: [number, number]; readonly last: [number, number] },
): Promise<[number | null, number | null]> {
  const time = async (edge: 'min' | 'max', [from, to]: [number, number]) => {
    const sql = `SELECT ${edge}(t) FROM read_parquet($1) WHERE t >= $2 AND t <= $3`;
    const [row] = await rowsOf(connection, sql, [path, from, to]);
    return row?.[0] == null ? null : Number(row[0]);
  };
  return [await time('min', first), await time('max', last)];
}

/** Every row of a range, in the order of time. */
export async function readRows(
  { connection, path }: RecordingFile,
  channels: Channels,
  range: Range,
  isSorted: boolean,
): Promise<ReadPoints[]> {
  const columns = channels.map((channel) => channelValue(channel));
  const rows = await rowsOf(
    connection,
    `SELECT t, ${columns.join(', ')} FROM read_parquet($1, file_row_number = true)
      WHERE t >= $2 AND t <= $3 ${isSorted ? '' : 'ORDER BY t, file_row_number'}`,
    [path, range.fromMs, range.toMs],
  );
  const times = rows.map((row) => Number(row[0]));
  return channels.map((_, index) => ({ times, values: rows.map((row) => plain(row[index + 1])) }));
}

/**
 * The rows at which a text changes, and the last row of the range: this describes a channel of states completely. The
 * rows must be in the order of time.
 * @returns null when there are more than `maxPoints`
 */
export async function readChanges(
  { connection, path }: RecordingFile,
  channel: Channels[number],
  range: Range,
  maxPoints: number,
): Promise<ReadPoints | null> {
  const parameters = [path, range.fromMs, range.toMs];
  const rows = await rowsOf(
    connection,
    `SELECT t, v FROM (
        SELECT t, ${channelValue(channel)} AS v, lag(${channelValue(channel)}) OVER () AS before
        FROM read_parquet($1) WHERE t >= $2 AND t <= $3
      ) WHERE v IS DISTINCT FROM before LIMIT ${maxPoints}`,
    parameters,
  );
  if (rows.length >= maxPoints) return null;
  const times = rows.map((row) => Number(row[0]));
  const values = rows.map((row) => plain(row[1]));
  const [end] = await rowsOf(
    connection,
    `SELECT max(t) FROM read_parquet($1) WHERE t >= $2 AND t <= $3`,
    parameters,
  );
  const last = end?.[0] ?? null;
  if (last !== null && (times.length === 0 || Number(last) > (times.at(-1) as number))) {
    times.push(Number(last));
    values.push(values.at(-1) ?? null);
  }
  return { times, values };
}

const firstOfChannel = 2;
const numbersOfChannel = 8;

/** First, lowest, highest and last row of channels of texts in each of `buckets` stretches of equal time. */
export async function readTextBuckets(
  { connection, path }: RecordingFile,
  channels: Channels,
  range: Range,
  buckets: number,
): Promise<ReadPoints[]> {
  const perMs = buckets / Math.max(range.toMs - range.fromMs, Number.MIN_VALUE);
  const values = channels.map((channel, index) => `${channelValue(channel)} AS v${index}`);
  const aggregates = channels.map((_, index) => {
    const v = `v${index}`;
    return `min(t) FILTER (${v} IS NOT NULL), arg_min(${v}, t), arg_min(t, ${v}), min(${v}),
      arg_max(t, ${v}), max(${v}), max(t) FILTER (${v} IS NOT NULL), arg_max(${v}, t)`;
  });
  const rows = await rowsOf(
    connection,
    `SELECT bucket, min(t), ${aggregates.join(', ')} FROM (
        SELECT t, least(CAST(floor((t - $2) * $4) AS INTEGER), $5) AS bucket, ${values.join(', ')}
        FROM read_parquet($1) WHERE t >= $2 AND t <= $3
      ) GROUP BY bucket ORDER BY bucket`,
    [path, range.fromMs, range.toMs, Number.isFinite(perMs) ? perMs : 0, buckets - 1],
  );
  return channels.map((_, index) => {
    const list = new PointList();
    for (const row of rows) {
      const at = firstOfChannel + numbersOfChannel * index;
      if (row[at] === null) {
        list.addGap(Number(row[1]));
        continue;
      }
      const point = (time: number, value: number) => ({
        time: Number(row[at + time]),
        value: plain(row[at + value]),
      });
      list.addBucket([point(0, 1), point(2, 3), point(4, 5), point(6, 7)]);
    }
    return list.points;
  });
}

/** The column names come from a description, so they are checked here once more. */
export function checkedColumn({ column }: Channels[number]): string {
  if (!/^c\d{1,5}$/.test(column)) throw new Error('The description names an impossible column.');
  return column;
}

/** SQL of a channel's value. */
export function channelValue(channel: Channels[number]): string {
  const { type } = channel;
  const column = checkedColumn(channel);
  if (type === 'text') return `left(${column}, ${textCharacters})`;
  if (type === 'boolean') return column;
  return `CASE WHEN isfinite(CAST(${column} AS DOUBLE)) THEN CAST(${column} AS DOUBLE) END`;
}

export async function rowsOf(
  connection: DuckDBConnection,
  sql: string,
  values: DuckDBValue[],
): Promise<DuckDBValue[][]> {
  const reader = await connection.runAndReadAll(sql, values);
  return reader.getRows();
}

export function plain(value: DuckDBValue | undefined): SeriesValue {
  switch (typeof value) {
    case 'number':
    case 'string':
    case 'boolean':
      return value;
    case 'bigint':
      return Number(value);
    default:
      return null;
  }
}
