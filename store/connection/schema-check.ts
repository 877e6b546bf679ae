/** Whether this version of the platform and the schema of its database belong together. */
import { isDatabaseAway } from '../../domain/network/database-fault.ts';
import { SettingsError } from '../../domain/settings.ts';
import type { Queryable } from './database.ts';
import { migrationsList } from './migrations.ts';

const unknownTable = '42P01';

/**
 * To be called when a process starts, before it works. A process that runs goes on while the database is brought further
 * (migrations only add), but none begins on a schema that it does not know.
 * @throws SettingsError, with the sentence for the operator
 */
export async function checkSchema(database: Queryable): Promise<void> {
  const ran = await ranMigrations(database);
  if (ran === undefined) return;
  const known = migrationsList.map(({ name }) => name);
  const newer = ran.filter((name) => !known.includes(name));
  if (newer.length > 0) {
    throw new SettingsError([
      `DATABASE_URL: the database is at ${newer.at(-1)}, which this version of the platform does not know: it is of a ` +
        'newer one. Start that version, or restore the backup from before the upgrade.',
    ]);
  }
  const missing = known.filter((name) => !ran.includes(name));
  if (missing.length > 0) {
    throw new SettingsError([
      `DATABASE_URL: the database lacks ${missing.join(', ')}. Bring it up to date first: node store/migrate.ts.`,
    ]);
  }
}

/** Undefined while the database is away: whoever needs it says so. */
async function ranMigrations(database: Queryable): Promise<string[] | undefined> {
  try {
    const rows = await database.query<{ name: string }>('select name from platform_migration order by name');
    return rows.map(({ name }) => name);
  } catch (error) {
    if ((error as { code?: string }).code === unknownTable) return [];
    if (isDatabaseAway(error)) return undefined;
    throw error;
  }
}
