import type { Database } from './database.ts';

const healerLock = 7_306_293;

/**
 * Runs `work` when no other process does; else does nothing. The lock belongs to a connection and dies with it.
 */
export async function withHealerLock(database: Database, work: () => Promise<void>): Promise<void> {
  const client = await database.pool.connect();
  try {
    const { rows } = await client.query('select pg_try_advisory_lock($1) as locked', [healerLock]);
    if (!rows[0].locked) return;
    try {
      await work();
    } finally {
      await client.query('select pg_advisory_unlock($1)', [healerLock]);
    }
  } finally {
    client.release();
  }
}
