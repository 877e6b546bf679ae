import type pg from 'pg';
import { advisoryLocks } from './advisory-locks.ts';
import type { Database } from './database.ts';

export async function withHealerLock(database: Database, work: () => Promise<void>): Promise<void> {
  await withLock(database, advisoryLocks.healer, work);
}

/**
 * Runs `work` unless another process is running it. The lock belongs to a connection and ends with it. A connection that
 * does not release it is closed, as is that of a frozen process. When such a process continues, two may run `work` at once.
 * @param key one of `advisoryLocks`
 * @param silentMs after which a process counts as frozen
 */
export async function withLock(
  database: Database,
  key: number,
  work: () => Promise<void>,
  silentMs = 10_000,
): Promise<void> {
  const client = await database.pool.connect();
  let broken: Error | undefined;
  try {
    const { rows } = await client.query('select pg_try_advisory_lock($1) as locked', [key]);
    if (!rows[0].locked) return;
    const shown = showAlive(client, silentMs);
    try {
      await work();
    } finally {
      clearInterval(shown);
      await client
        .query(`select pg_advisory_unlock($1), set_config('idle_session_timeout', '0', false)`, [key])
        .catch((error: Error) => {
          broken = error;
        });
    }
  } finally {
    client.release(broken);
  }
}

/** The work uses other connections: this one would be idle. */
function showAlive(client: pg.PoolClient, silentMs: number): NodeJS.Timeout {
  // What fails here shows when the lock is released.
  const show = () => void client.query(`set idle_session_timeout = ${silentMs}`).catch(() => undefined);
  show();
  return setInterval(show, silentMs / 4);
}
