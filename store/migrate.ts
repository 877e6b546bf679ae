/** Brings the database named by `DATABASE_URL` to the newest schema; waits while another process does the same. */
import { readCall } from '../settings/program-call.ts';
import { readSettings, SettingsError } from '../settings/read.ts';
import { platformMigrations } from './connection/migrations.ts';
import { connectToMigrate, type Migration, runMigrations } from './connection/migrator.ts';
import { databaseSettings } from './connection/settings.ts';
import { grantOnNewTables, grantRoles } from './roles.ts';

/**
 * Runs the missing migrations of `store/migrations`, grants the roles what they need, and returns the names of those
 * run.
 * @param migrations other than the product's own, for tests
 */
export async function migrate(
  databaseUrl: string,
  migrations: readonly Migration[] = platformMigrations.migrations,
): Promise<string[]> {
  const client = await connectToMigrate(databaseUrl);
  try {
    const ran = await runMigrations(client, { ...platformMigrations, migrations }, grantOnNewTables);
    await grantRoles(client);
    return ran;
  } finally {
    await client.end();
  }
}

const usage = `Usage: node store/migrate.ts
Brings the tables of the platform in the database of DATABASE_URL to the newest schema.`;

if (import.meta.main) {
  readCall(usage, {});
  try {
    const { database } = readSettings({ database: databaseSettings }, process.env);
    await migrate(database.DATABASE_URL);
  } catch (error) {
    console.error(error instanceof SettingsError ? error.message : error);
    process.exitCode = 1;
  }
}
