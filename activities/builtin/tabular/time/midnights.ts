/** Times of the day begin anew at midnight: a recording that goes on over it goes on in its times. */
import type { Engine } from '../engine.ts';

const dayMilliseconds = 86_400_000;
/** More are no nights, and each costs a comparison for each row. */
const maxMidnights = 400;

/**
 * SQL of `t` with a day added after each midnight; null when there is none, or too many.
 * @param path rows in the order of the file, times as `t`
 */
export async function timesOverMidnights(engine: Engine, path: string): Promise<string | null> {
  const rows = await engine.rows({
    sql: `SELECT file_row_number FROM (
        SELECT file_row_number, t - lag(t) OVER () AS step
          FROM (SELECT t, file_row_number FROM read_parquet($1, file_row_number = true) WHERE isfinite(t)))
      WHERE step < ${-dayMilliseconds / 2} LIMIT ${maxMidnights + 1}`,
    parameters: [path],
  });
  if (rows.length === 0 || rows.length > maxMidnights) return null;
  const midnights = rows.map(([row]) => `CAST(file_row_number >= ${Number(row)} AS INTEGER)`);
  return `t + ${dayMilliseconds}.0 * (${midnights.join(' + ')})`;
}
