/** Brings the database named by `DATABASE_URL` to the newest schema; waits while another process does the same. */
import pg from 'pg';
import { readSettings } from '../settings/read.ts';
import { advisoryLocks } from './advisory-locks.ts';
import { Database } from './database.ts';
import { grantRoles } from './roles.ts';
import { databaseSettings } from './settings.ts';

/** Runs what is missing of `store/migrations`, under an advisory lock. Returns the names of what was run. */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const lock = new pg.Client({ connectionString: databaseUrl });
  await lock.connect();
  try {
    await lock.query('select pg_advisory_lock($1)', [advisoryLocks.migration]);
    const database = await Database.open({ databaseUrl, poolSize: 2 });
    try {
      const ran = (await database.migrator.up()).map((migration) => migration.name);
      await grantRoles(lock);
      return ran;
    } finally {
      await database.close();
    }
  } finally {
    await lock.end();
  }
}

if (import.meta.main) {
  const { database } = readSettings({ database: databaseSettings }, process.env);
  await migrate(database.DATABASE_URL);
}
