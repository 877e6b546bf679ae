/** Whether this version of the service and the schema `auth` of its database belong together. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { SettingsError } from '../domain/settings.ts';
import { AuthDatabase } from './database.ts';

const folder = join(import.meta.dirname, 'migrations');
const unknownTable = '42P01';

/**
 * To be called when the service starts: none begins on a schema that it does not know, or that lacks something. While the
 * database is away nothing is checked.
 * @throws SettingsError, with the sentence for the operator
 */
export async function checkAuthSchema(databaseUrl: string): Promise<void> {
  const ran = await ranMigrations(databaseUrl);
  if (ran === undefined) return;
  const known = readdirSync(folder).filter((file) => file.endsWith('.sql'));
  const newer = ran.filter((name) => !known.includes(name)).at(-1);
  if (newer !== undefined) {
    throw new SettingsError([
      `DATABASE_URL: the schema auth is at ${newer}, which this version of the service does not know: it is of a newer one.`,
    ]);
  }
  if (known.some((file) => !ran.includes(file))) {
    throw new SettingsError([
      'DATABASE_URL: the schema auth is not up to date. Bring it there first: node auth/migrate.ts.',
    ]);
  }
}

async function ranMigrations(databaseUrl: string): Promise<string[] | undefined> {
  const database = new AuthDatabase(databaseUrl);
  const statement = { name: 'migrations_ran', text: 'select name from auth.migrations order by name' };
  try {
    return (await database.query<{ name: string }>(statement, [])).map(({ name }) => name);
  } catch (error) {
    return (error as { code?: string }).code === unknownTable ? [] : undefined;
  } finally {
    await database.close();
  }
}
