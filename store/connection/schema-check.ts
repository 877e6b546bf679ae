/** Whether this version of the platform and the schema of its database belong together. */
import { isDatabaseAway } from '../../domain/network/database-fault.ts';
import type { Queryable } from './database.ts';
import { platformMigrations } from './migrations.ts';
import { ranNames, requireSchema } from './migrator.ts';

/**
 * Call this when a process starts, before its work. A running process continues while the database is migrated
 * (migrations only add). While the database is unavailable nothing is checked: the code that needs it reports that.
 * @throws SettingsError, with the sentence for the operator
 */
export async function checkSchema(database: Queryable): Promise<void> {
  const ran = await ranNames(platformMigrations, (text) => database.query(text)).catch((error: unknown) => {
    if (!isDatabaseAway(error)) throw error;
  });
  if (ran !== undefined) requireSchema(platformMigrations, ran);
}
