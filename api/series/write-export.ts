/** Writes the rows of a part of recordings as one csv or Parquet file. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { guardedSql, guardedText } from '../../domain/reports/spreadsheet-text.ts';
import { computedColumn } from './computed-rows.ts';
import { type ExportJob, type JobSource, recordingHeading, timeHeadings } from './protocol.ts';
import { rangeWithin } from './read-source.ts';
import { checkedColumn, rowsOf, textOf } from './scan.ts';

const rowGroupRows = 61_440;

/**
 * The rows of each recording in turn, as they are in its file. Several recordings have a column with their names; a
 * recording without a channel has empty cells there. The file is written row by row: no recording is held in memory.
 */
export async function writeExport(connection: DuckDBConnection, job: ExportJob): Promise<void> {
  const parts = job.sources.map((source, index) => {
    const { fromMs, toMs } = rangeWithin(source, job);
    const range = `t >= ${fromMs}::DOUBLE AND t <= ${toMs}::DOUBLE`;
    return selectOf(job, index, `read_parquet(${textOf(source.path)}) WHERE ${range}`);
  });
  if (parts.length === 0) parts.push('SELECT NULL::TIMESTAMP AS time WHERE false');
  await connection.run(copyOf(parts.join(' UNION ALL '), job.format, job.path));
}

export function copyOf(select: string, format: 'csv' | 'parquet', path: string, hasHead = true): string {
  const options =
    format === 'csv'
      ? `FORMAT csv, HEADER ${hasHead}`
      : `FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${rowGroupRows}`;
  return `COPY (${select}) TO ${textOf(path)} (${options})`;
}

/** @param from SQL of rows of the source; derived channels need those of {@link computedColumn} too */
export function selectOf(job: ExportJob, index: number, from: string): string {
  const source = job.sources[index] as JobSource;
  const areSeveral = job.sources.length > 1;
  const isCsv = job.format === 'csv';
  const guard = (text: string) => (isCsv ? guardedText(text) : text);
  const recording = areSeveral
    ? [`${textOf(guard(job.recordings[index] ?? ''))} AS ${recordingHeading}`]
    : [];
  const values = job.columns.map(({ name, type, channels }) => {
    const id = channels[index] ?? null;
    const value = id === null ? 'NULL' : cellOf(source, id, isCsv);
    const isWhole = isCsv && type === 'integer';
    const cell = isWhole ? wholeNumber(value) : value;
    const sqlType = isWhole ? 'VARCHAR' : sqlTypes[type];
    return `${areSeveral ? `CAST(${cell} AS ${sqlType})` : cell} AS ${nameOf(guard(name))}`;
  });
  const columns = [...recording, timeOf(job), ...values];
  return `SELECT ${columns.join(', ')} FROM ${from}`;
}

function cellOf({ channels, derived }: JobSource, id: string, isCsv: boolean): string {
  const channel = channels.find((one) => one.id === id);
  if (channel === undefined) {
    const place = derived.findIndex((one) => one.id === id);
    return place === -1 ? 'NULL' : computedColumn(place);
  }
  const value = checkedColumn(channel);
  return isCsv && channel.type === 'text' ? guardedSql(value) : value;
}

/** Numbers held as DOUBLE would be `1.0` and `1.7e+18` in csv; the least BIGINT has no absolute value of its own. */
const wholeNumber = (value: string) =>
  `CASE WHEN abs(CAST(${value} AS DOUBLE)) < 9e18 THEN CAST(CAST(${value} AS BIGINT) AS VARCHAR) ELSE CAST(${value} AS VARCHAR) END`;

const sqlTypes = { number: 'DOUBLE', integer: 'DOUBLE', boolean: 'BOOLEAN', text: 'VARCHAR' } as const;

function timeOf(job: ExportJob): string {
  return `${timeSql(job)} AS ${nameOf(timeHeadings[job.timesAre])}`;
}

function timeSql({ format, timesAre, hasFineTimes }: ExportJob): string {
  if (timesAre === 'row-numbers') return 'CAST(t AS BIGINT)';
  if (timesAre === 'seconds') return 't / 1000';
  const time = 'make_timestamp(CAST(round(t * 1000) AS BIGINT))';
  const fraction = hasFineTimes === true ? '%f' : '%g';
  return format === 'csv' ? `strftime(${time}, '%Y-%m-%dT%H:%M:%S.${fraction}Z')` : time;
}

/** Finds whether a csv needs microseconds: in whole milliseconds several rows of a fast recording would have the same time. */
export async function withTimeDigits(connection: DuckDBConnection, job: ExportJob): Promise<ExportJob> {
  if (job.format !== 'csv' || job.timesAre !== 'dates') return job;
  for (const source of job.sources) {
    const { fromMs, toMs } = rangeWithin(source, job);
    const sql = 'SELECT bool_or(t <> floor(t)) FROM read_parquet($1) WHERE t >= $2 AND t <= $3';
    const [row] = await rowsOf(connection, sql, [source.path, fromMs, toMs]);
    if (row?.[0] === true) return { ...job, hasFineTimes: true };
  }
  return job;
}

const nameOf = (name: string) => `"${name.replaceAll('"', '""')}"`;
