/** Whether this version of the service and the schema `auth` of its database belong together. */
import { ranNames, requireSchema } from '../store/connection/migrator.ts';
import { AuthDatabase } from './database.ts';
import { authMigrations } from './migrations.ts';

/**
 * To be called when the service starts: none begins on a schema that it does not know, or that lacks something. While the
 * database is away nothing is checked.
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
