/** Writes the rows of a part of recordings as one csv or Parquet file. */
import type { DuckDBConnection } from '@duckdb/node-api';
import { guardedSql, guardedText } from '../../domain/reports/spreadsheet-text.ts';
import type { ExportJob, JobSource } from './protocol.ts';
import { rangeWithin } from './read-source.ts';
import { checkedColumn } from './scan.ts';

const rowGroupRows = 61_440;

/**
 * The rows of each recording in turn, as they are in its file. Several recordings have a column with their names; a
 * recording without a channel has empty cells there. The file is written row by row: no recording is held in memory.
 */
export async function writeExport(connection: DuckDBConnection, job: ExportJob): Promise<void> {
  const parts = job.sources.map((source, index) => selectOf(job, source, index));
  if (parts.length === 0) parts.push('SELECT NULL::TIMESTAMP AS time WHERE false');
  const options =
    job.format === 'csv'
      ? 'FORMAT csv, HEADER true'
      : `FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${rowGroupRows}`;
  await connection.run(`COPY (${parts.join(' UNION ALL ')}) TO ${textOf(job.path)} (${options})`);
}

function selectOf(job: ExportJob, source: JobSource, index: number): string {
  const { fromMs, toMs } = rangeWithin(source, job);
  const areSeveral = job.sources.length > 1;
  const isCsv = job.format === 'csv';
  const guard = (text: string) => (isCsv ? guardedText(text) : text);
  const recording = areSeveral ? [`${textOf(guard(job.recordings[index] ?? ''))} AS recording`] : [];
  const values = job.columns.map(({ name, type, channels }) => {
    const id = channels[index] ?? null;
    const channel = id === null ? undefined : source.channels.find((one) => one.id === id);
    const value = channel === undefined ? 'NULL' : checkedColumn(channel);
    const cell = isCsv && channel?.type === 'text' ? guardedSql(value) : value;
    return `${areSeveral ? `CAST(${cell} AS ${sqlTypes[type]})` : cell} AS ${nameOf(guard(name))}`;
  });
  const columns = [...recording, timeOf(job), ...values];
  return `SELECT ${columns.join(', ')} FROM read_parquet(${textOf(source.path)})
    WHERE t >= ${fromMs}::DOUBLE AND t <= ${toMs}::DOUBLE`;
}

const sqlTypes = { number: 'DOUBLE', boolean: 'BOOLEAN', text: 'VARCHAR' } as const;

function timeOf({ format, isRelative }: ExportJob): string {
  if (isRelative) return 't / 1000 AS "time [s]"';
  const time = 'make_timestamp(CAST(round(t * 1000) AS BIGINT))';
  return format === 'csv' ? `strftime(${time}, '%Y-%m-%dT%H:%M:%S.%gZ') AS time` : `${time} AS time`;
}

const textOf = (text: string) => `'${text.replaceAll("'", "''")}'`;
const nameOf = (name: string) => `"${name.replaceAll('"', '""')}"`;
