/** Times of the day begin anew at midnight, `mm:ss.f` with each hour. In a recording over midnight the times must continue. */
import type { Engine } from '../engine.ts';

export const periods = {
  day: {
    milliseconds: 86_400_000,
    warning: 'The times of the day begin anew at midnight; a day was added after each.',
  },
  hour: {
    milliseconds: 3_600_000,
    warning: 'The times begin anew with each hour; an hour was added after each.',
  },
} as const;
/** More of them are not midnights, and each costs a comparison for each row. */
const maxMidnights = 400;

/**
 * SQL of `t` with a day (`period`, in milliseconds) added after each midnight; null when there is none, or too many.
 * @param path rows in the order of the file, times as `t`
 */
export async function timesOverMidnights(
  engine: Engine,
  path: string,
  period: number,
): Promise<string | null> {
  const rows = await engine.rows({
    sql: `SELECT file_row_number FROM (
        SELECT file_row_number, t - lag(t) OVER () AS step
          FROM (SELECT t, file_row_number FROM read_parquet($1, file_row_number = true) WHERE isfinite(t)))
      WHERE step < ${-period / 2} LIMIT ${maxMidnights + 1}`,
    parameters: [path],
  });
  if (rows.length === 0 || rows.length > maxMidnights) return null;
  const midnights = rows.map(([row]) => `CAST(file_row_number >= ${Number(row)} AS INTEGER)`);
  return `t + ${period}.0 * (${midnights.join(' + ')})`;
}
