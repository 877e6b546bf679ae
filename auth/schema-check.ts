/** Checks that this version of the service and the schema `auth` of its database match. */
import { ranNames, requireSchema } from '../store/connection/migrator.ts';
import { AuthDatabase } from './database.ts';
import { authMigrations } from './migrations.ts';

/**
 * Call it when the service starts: it must not run on an unknown or incomplete schema. While the database is down
 * nothing is checked.
 * @throws SettingsError, with the sentence for the operator
 */
export async function checkAuthSchema(databaseUrl: string): Promise<void> {
  const database = new AuthDatabase(databaseUrl);
  const ran = await ranNames(authMigrations, (text) =>
    database.query({ name: 'migrations_ran', text }, []),
  ).catch(() => undefined);
  await database.close();
  if (ran !== undefined) requireSchema(authMigrations, ran);
}
