/**
 * Writes the rows of recordings with their derived channels as one csv or Parquet file. The values are computed as a chart's
 * are, row by row, and put beside the rows of the file some at a time: no recording is held in memory.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import { ComputedRows } from './computed-rows.ts';
import type { ExportJob, JobSource } from './protocol.ts';
import { rangeWithin } from './read-source.ts';
import { type OpenSource, type Range, textOf } from './scan.ts';
import { streamValues } from './value-stream.ts';
import { copyOf, selectOf } from './write-export.ts';

/** Two row groups of a recording. */
const partRows = 122_880;

/** @param writing a connection for the parts, because reading goes on meanwhile */
export async function writeDerivedExport(
  reading: DuckDBConnection,
  writing: DuckDBConnection,
  job: ExportJob,
): Promise<void> {
  const parts: string[] = [];
  const put = async (index: number, rows: ComputedRows) => {
    const select = selectOf(job, index, await rows.toTable((job.sources[index] as JobSource).path));
    // As export-files.ts finds them.
    const path = job.path.replace(/\.part$/, `.${parts.length}.part`);
    parts.push(path);
    await writing.run(copyOf(select, job.format, path, parts.length === 1));
    if (job.format === 'csv') await appendPart(job.path, path);
  };
  try {
    for (const [index, source] of job.sources.entries()) {
      const rows = new ComputedRows(writing, source.derived.length, partRows);
      // The first part is the head, also of a file without rows.
      if (index === 0) await put(index, rows);
      await fill(rows, { ...source, connection: reading }, rangeWithin(source, job), () => put(index, rows));
    }
    if (job.format === 'parquet') {
      const all = `SELECT * FROM read_parquet([${parts.map(textOf).join(', ')}])`;
      await writing.run(copyOf(all, job.format, job.path));
    }
  } finally {
    await Promise.all(parts.map((path) => rm(path, { force: true })));
  }
}

/** @param onFull puts the rows somewhere, and is called with the last ones too */
async function fill(
  rows: ComputedRows,
  source: OpenSource,
  range: Range,
  onFull: () => Promise<void>,
): Promise<void> {
  const ids = source.derived.map(({ id }) => id);
  await streamValues(source, ids, range, async ({ numbers, columns }) => {
    for (let start = 0; start < numbers.length; ) {
      start += rows.add([numbers, ...columns], start);
      if (rows.count === partRows) await onFull();
    }
  });
  if (rows.count > 0) await onFull();
}

async function appendPart(file: string, part: string): Promise<void> {
  await pipeline(createReadStream(part), createWriteStream(file, { flags: 'a' }));
  await rm(part);
}
