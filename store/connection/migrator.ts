/**
 * The one migrator, for the platform's tables and for those of the authentication service. Migrations are numbered SQL
 * files; a table holds the names of those that ran. How to write one: docs/development.md.
 *
 * The number orders migrations and the words behind it identify them: a database whose migrations had other numbers in
 * an earlier version continues with the new one.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { isDatabaseUnavailable, isRefusal, sqlStates } from '../../domain/network/database-fault.ts';
import { endsWithLostClient } from '../../domain/network/session-options.ts';
import { SettingsError } from '../../domain/settings.ts';
import { inTransaction, isStepwise, runSteps } from './migration-steps.ts';

export interface Migration {
  readonly name: string;
  readonly text: string;
}

/** The migrations of one service. */
export interface MigrationSet {
  /** In words for operators: what is migrated, which product does not know it, which program migrates it. */
  readonly place: string;
  readonly product: string;
  readonly program: string;
  readonly migrations: readonly Migration[];
  /** Holds the names of those that ran. */
  readonly table: string;
  /** Makes that table. */
  readonly tableDefinition: string;
  /** One of the advisory locks. */
  readonly lock: number;
}

const options = `-c idle_in_transaction_session_timeout=60000 ${endsWithLostClient}`;
const acquireEveryMs = 100;

/** The SQL files of a folder and its sub-folders, ordered by number. A file is never edited after it has landed. */
export function readMigrations(folder: string): Migration[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.sql'))
    .map((file) => ({ name: nameOf(basename(file)), text: readFileSync(join(folder, file), 'utf8') }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** The authentication service of earlier versions kept the names of files. */
const nameOf = (file: string) => file.replace(/\.sql$/, '');
const wordsOf = (name: string) => nameOf(name).replace(/^\d+[-_]/, '');
const isSame = (one: string) => (other: string) => wordsOf(one) === wordsOf(other);

/**
 * A connection as migrations need it. The caller ends it.
 * @throws SettingsError when the database cannot be reached or refuses the connection: a stack is of no use to an operator
 */
export async function connectToMigrate(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'migration', options });
  // The statement that needs a broken connection reports it.
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    throw new SettingsError([`DATABASE_URL: ${(error as Error).message}`]);
  }
  return client;
}

/**
 * Runs the missing migrations and returns their names. Waits while another process does the same. Services may run
 * meanwhile: a migration that does not get a lock at once lets the others pass and tries again, for five minutes.
 * @throws SettingsError when a newer version has migrated the database
 * @param grantNew grants the roles their rights on new tables: with each migration, since the services run the triggers
 *   that need them from its commit on
 */
export async function runMigrations(
  client: pg.Client,
  set: MigrationSet,
  grantNew: (client: pg.Client) => Promise<void>,
): Promise<string[]> {
  await acquire(client, set.lock);
  const ran = await ranNames(set, async (text) => (await client.query<{ name: string }>(text)).rows);
  requireNoneUnknown(set, ran);
  if (ran.length === 0) await client.query(set.tableDefinition);
  const pending = set.migrations.filter(({ name }) => !ran.some(isSame(name)));
  for (const { name, text } of pending) {
    // Each step of a stepwise migration can be repeated, and is when the process ends before the record is written.
    if (isStepwise(text)) await runSteps(client, text);
    await inTransaction(client, async () => {
      if (!isStepwise(text)) await client.query(text);
      await note(client, set, ran, name);
      await grantNew(client);
    });
  }
  return pending.map(({ name }) => name);
}

/** By polling: a statement that waits would block a concurrent index build. */
async function acquire(client: pg.Client, lock: number): Promise<void> {
  for (;;) {
    const { rows } = await client.query('select pg_try_advisory_lock($1) as locked', [lock]);
    if (rows[0].locked) return;
    await delay(acquireEveryMs);
  }
}

/**
 * Records that a migration ran. Processes of an earlier version can no longer start then, so the names of earlier
 * migrations may follow their files.
 */
async function note(client: pg.Client, set: MigrationSet, ran: readonly string[], name: string) {
  const present = ran.map((old) => set.migrations.find((one) => isSame(one.name)(old))?.name ?? old);
  await client.query(
    `update ${set.table} t set name = renamed.name
       from unnest($1::text[], $2::text[]) as renamed (old, name) where t.name = renamed.old and t.name <> renamed.name`,
    [ran, present],
  );
  await client.query(`insert into ${set.table} (name) values ($1)`, [name]);
}

/** The names of migrations that ran, of any version: none on an empty database. */
async function ranNames(
  { table }: MigrationSet,
  query: (text: string) => Promise<ReadonlyArray<{ readonly name: string }>>,
): Promise<string[]> {
  try {
    return (await query(`select name from ${table} order by name`)).map(({ name }) => name);
  } catch (error) {
    if (isRefusal(error, sqlStates.undefinedTable)) return [];
    throw error;
  }
}

/**
 * For a starting process: it refuses a database that it may not use, and a schema that it does not know or that lacks
 * something. While the database is unavailable nothing is checked: the code that needs it reports that.
 * @throws SettingsError, with the sentence for the operator
 */
export async function checkMigrated(
  set: MigrationSet,
  query: (text: string) => Promise<ReadonlyArray<{ readonly name: string }>>,
): Promise<void> {
  const ran = await ranNames(set, query).catch((error: Error) => {
    if (!isDatabaseUnavailable(error)) throw new SettingsError([`DATABASE_URL: ${error.message}`]);
  });
  if (ran !== undefined) requireSchema(set, ran);
}

function requireSchema(set: MigrationSet, ran: readonly string[]): void {
  requireNoneUnknown(set, ran);
  const known = set.migrations.map(({ name }) => name);
  const missing = known.filter((name) => !ran.some(isSame(name)));
  if (missing.length > 0) {
    throw new SettingsError([
      `DATABASE_URL: ${set.place} lacks ${namesOf(missing)}. Migrate it first: node ${set.program}.`,
    ]);
  }
}

/** A schema of a newer version: neither do processes of this one work on it, nor has this one anything to add to it. */
function requireNoneUnknown(set: MigrationSet, ran: readonly string[]): void {
  const newer = ran.filter((ranName) => !set.migrations.some(({ name }) => isSame(ranName)(name))).at(-1);
  if (newer !== undefined) {
    throw new SettingsError([
      `DATABASE_URL: ${set.place} is at ${newer}, which this version of ${set.product} does not know: it comes from a ` +
        'newer version. Start that version, or restore the backup from before the upgrade.',
    ]);
  }
}

/** An empty database lacks all of them. */
const namesOf = (missing: readonly string[]) =>
  missing.length <= 3
    ? missing.join(', ')
    : `${missing.length} migrations (${missing[0]} to ${missing.at(-1)})`;
