/** Whether this version of the platform and the schema of its database belong together. */
import type { Queryable } from './database.ts';
import { platformMigrations } from './migrations.ts';
import { checkMigrated } from './migrator.ts';

/**
 * Call this when a process starts, before its work. A running process continues while the database is migrated
 * (migrations only add).
 * @throws SettingsError, with the sentence for the operator
 */
export async function checkSchema(database: Queryable): Promise<void> {
  await checkMigrated(platformMigrations, (text) => database.query(text));
}
