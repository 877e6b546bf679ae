import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';

export const parquetType = 'application/vnd.apache.parquet';

/** A small Parquet file that represents 200 million values: too much work to finish within a test. */
export async function longParquet(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'sdp-long-parquet-'));
  const path = join(folder, 'long.parquet');
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
  try {
    const connection = await instance.connect();
    const columns = Array.from({ length: 100 }, (_, column) => `0.5 AS c${column}`);
    await connection.run(
      `COPY (SELECT i AS time, ${columns.join(', ')} FROM range(2000000) r(i)) TO '${path}' (FORMAT parquet)`,
    );
    connection.closeSync();
    return await readFile(path);
  } finally {
    instance.closeSync();
    await rm(folder, { recursive: true, force: true });
  }
}
