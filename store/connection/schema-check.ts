/** Whether this version of the platform and the schema of its database belong together. */
import { isDatabaseAway } from '../../domain/network/database-fault.ts';
import type { Queryable } from './database.ts';
import { platformMigrations } from './migrations.ts';
import { ranNames, requireSchema } from './migrator.ts';

/**
 * To be called when a process starts, before it works. A process that runs goes on while the database is brought further
 * (migrations only add). While the database is away nothing is checked: whoever needs it says so.
 * @throws SettingsError, with the sentence for the operator
 */
export async function checkSchema(database: Queryable): Promise<void> {
  const ran = await ranNames(platformMigrations, (text) => database.query(text)).catch((error: unknown) => {
    if (!isDatabaseAway(error)) throw error;
  });
  if (ran !== undefined) requireSchema(platformMigrations, ran);
}
