import { advisoryLocks } from './advisory-locks.ts';
import type { Database } from './database.ts';

export async function withHealerLock(database: Database, work: () => Promise<void>): Promise<void> {
  await withLock(database, advisoryLocks.healer, work);
}

/**
 * Runs `work` unless another process is running it. The lock belongs to a connection and dies with it: one that does not
 * release it is closed.
 * @param key one of `advisoryLocks`
 */
export async function withLock(database: Database, key: number, work: () => Promise<void>): Promise<void> {
  const client = await database.pool.connect();
  let broken: Error | undefined;
  try {
    const { rows } = await client.query('select pg_try_advisory_lock($1) as locked', [key]);
    if (!rows[0].locked) return;
    try {
      await work();
    } finally {
      await client.query('select pg_advisory_unlock($1)', [key]).catch((error: Error) => {
        broken = error;
      });
    }
  } finally {
    client.release(broken);
  }
}
