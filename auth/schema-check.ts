/** Checks that this version of the service and the schema `auth` of its database match. */
import { checkMigrated } from '../store/connection/migrator.ts';
import { AuthDatabase } from './database.ts';
import { authMigrations } from './migrations.ts';

/**
 * Call it when the service starts: it must not run on an unknown or incomplete schema.
 * @throws SettingsError, with the sentence for the operator
 */
export async function checkAuthSchema(databaseUrl: string): Promise<void> {
  const database = new AuthDatabase(databaseUrl);
  try {
    await checkMigrated(authMigrations, (text) => database.query({ name: 'migrations_ran', text }, []));
  } finally {
    await database.close();
  }
}
