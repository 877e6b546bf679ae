/** The migrator on separate databases: beside writers, after a kill, and on databases of earlier versions. */
import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { migrateAuth } from '../../auth/migrate.ts';
import { authMigrations } from '../../auth/migrations.ts';
import { checkAuthSchema } from '../../auth/schema-check.ts';
import { SettingsError } from '../../domain/settings.ts';
import { checkout } from '../../local/settings.ts';
import { Database } from '../../store/connection/database.ts';
import { platformMigrations } from '../../store/connection/migrations.ts';
import { checkSchema } from '../../store/connection/schema-check.ts';
import { migrate } from '../../store/migrate.ts';
import { connected, emptyDatabase } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { testEnvironment } from '../support/stack.ts';

const platform = await testEnvironment();
const present = platformMigrations.migrations;

/** An empty database with a connection to it, for one test. */
async function ownDatabase(): Promise<{ readonly url: string; readonly client: pg.Client }> {
  const { url, drop } = await emptyDatabase(platform.databaseUrl);
  const client = await connected(url);
  onTestFinished(async () => {
    await client.end();
    await drop();
  });
  return { url, client };
}

test.each([migrate, (url: string) => migrateAuth(url, undefined)])(
  'a database that cannot be reached is reported in one line, as a fault of its setting',
  async (run) => {
    const failed = await run('postgresql://u:p@127.0.0.1:1/d').catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(SettingsError);
    expect(failed).toMatchObject({ message: 'DATABASE_URL: connect ECONNREFUSED 127.0.0.1:1' });
  },
);

const rows = 60_000;
const bigTable = {
  name: '0001-big',
  text: `create table big (id integer primary key, note text not null, copy text, copies integer not null default 0);
    insert into big (id, note) select id, md5(id::text) from generate_series(1, ${rows}) as id;`,
};
/** Costly enough to need seconds. */
const bigIndex = {
  name: '0002-big-index',
  text: '-- stepwise\ncreate index concurrently big_by_note on big (md5(repeat(note, 500)));',
};
const bigBackfill = {
  name: '0003-big-backfill',
  text: `-- stepwise
    -- New rows have it by the trigger; those from before are given it here.
    update big set copy = upper(repeat(note, 20)), copies = copies + 1 where copy is null and :batch(big);`,
};

/** Writes to the big table until it is stopped. Fails when it waits for a lock longer than a second. */
async function writeUntil(url: string, isOver: () => boolean): Promise<number> {
  const client = new pg.Client({ connectionString: url, options: '-c lock_timeout=1000' });
  await client.connect();
  let writes = 0;
  try {
    while (!isOver()) {
      writes += 1;
      await client.query('update big set note = md5($1::text) where id = $1::integer', [
        1 + Math.floor(Math.random() * rows),
      ]);
      await client.query(`insert into big (id, note, copy) values ($1, '', '')`, [rows + writes]);
    }
  } finally {
    await client.end();
  }
  return writes;
}

const endMigrator = (client: pg.Client) =>
  client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'migration' and datname = current_database()`,
  );
const isIndexValid = async (client: pg.Client): Promise<boolean | undefined> => {
  const { rows: found } = await client.query(
    `select indisvalid as valid from pg_index where indexrelid = to_regclass('big_by_note')`,
  );
  return found[0]?.valid;
};
const copied = async (client: pg.Client): Promise<number> =>
  (await client.query('select count(*)::int as count from big where copies = 1')).rows[0].count;
const namesIn = async (client: pg.Client, table: string): Promise<string[]> =>
  (await client.query(`select name from ${table} order by name`)).rows.map(({ name }) => name);

describe('beside writers', () => {
  test('an index and a backfill of a large table hold up no writer for a second', async () => {
    const { url, client } = await ownDatabase();
    await migrate(url, [bigTable]);
    let isOver = false;
    const writing = writeUntil(url, () => isOver);
    writing.catch(() => undefined);
    try {
      expect(await migrate(url, [bigTable, bigIndex, bigBackfill])).toEqual([
        bigIndex.name,
        bigBackfill.name,
      ]);
    } finally {
      isOver = true;
    }
    expect(await writing).toBeGreaterThan(10);
    expect(await isIndexValid(client)).toBe(true);
    expect(await copied(client)).toBe(rows);
  });

  test('a migration passes what yields only to a statement that has waited for a second, as an autovacuum does', async () => {
    const { url, client } = await ownDatabase();
    await migrate(url, [bigTable]);
    await client.query('begin; lock table big in share update exclusive mode');
    const statistics = {
      name: '0002-statistics',
      text: 'alter table big alter column note set statistics 0',
    };
    const migrating = migrate(url, [bigTable, statistics]);
    migrating.catch(() => undefined);
    await eventually('it has waited for a second', async () => {
      const { rows: waiting } = await client.query(
        `select from pg_locks where relation = 'big'::regclass and waitstart < clock_timestamp() - interval '1 second'`,
      );
      return waiting.length > 0;
    });
    await client.query('rollback');
    expect(await migrating).toEqual([statistics.name]);
  });

  test('two migrators at once do the work once, and wait for each other without a deadlock', async () => {
    const { url, client } = await ownDatabase();
    const both = await Promise.all([1, 2].map(() => migrate(url, [bigTable, bigIndex])));
    expect(both.map((ran) => ran.length).sort()).toEqual([0, 2]);
    expect(await isIndexValid(client)).toBe(true);
  });
});

describe('after a kill', () => {
  test('the unfinished index is rebuilt', async () => {
    const { url, client } = await ownDatabase();
    await migrate(url, [bigTable]);
    const killed = migrate(url, [bigTable, bigIndex]).catch((error: Error) => error);
    await eventually('the index is under way', async () => (await isIndexValid(client)) === false);
    await endMigrator(client);
    expect(await killed).toBeInstanceOf(Error);
    expect(await isIndexValid(client)).toBe(false);
    expect(await namesIn(client, 'platform_migration')).toEqual([bigTable.name]);
    expect(await migrate(url, [bigTable, bigIndex])).toEqual([bigIndex.name]);
    expect(await isIndexValid(client)).toBe(true);
  });

  test('a backfill continues with the remaining rows', async () => {
    const { url, client } = await ownDatabase();
    await migrate(url, [bigTable]);
    const killed = migrate(url, [bigTable, bigBackfill]).catch((error: Error) => error);
    await eventually('some batches are done', async () => (await copied(client)) > 0);
    await endMigrator(client);
    expect(await killed).toBeInstanceOf(Error);
    const before = await copied(client);
    expect(before).toBeLessThan(rows);
    expect(await migrate(url, [bigTable, bigBackfill])).toEqual([bigBackfill.name]);
    // Each row once: the work before the kill is kept.
    expect(await copied(client)).toBe(rows);
  });
});

test('a step that would stop writers, or could not be repeated, is refused before the first runs', async () => {
  const { url, client } = await ownDatabase();
  await migrate(url, [bigTable]);
  for (const step of [
    'create index x on big (note)',
    'alter table big add column x text',
    'update big set copy = 1',
  ]) {
    const text = `-- stepwise\n${bigIndex.text}\n${step};`;
    await expect(migrate(url, [bigTable, { name: '0002-x', text }])).rejects.toThrow(step);
  }
  expect(await isIndexValid(client)).toBeUndefined();
});

describe('names', () => {
  test.each([platformMigrations, authMigrations])(
    'no two migrations of $place have one number, or the same words behind it',
    ({ migrations }) => {
      const parts = migrations.map(({ name }) => /^(\d{4})[-_]([\w-]+)$/.exec(name)!);
      expect(parts.map(([, number]) => Number(number))).toEqual(migrations.map((_, at) => at + 1));
      expect(new Set(parts.map(([, , words]) => words)).size).toBe(migrations.length);
    },
  );

  test('each file is in the folder of its number', () => {
    const files = readdirSync(join(checkout, 'store/migrations'), { recursive: true, encoding: 'utf8' });
    const misplaced = files.filter((file) => {
      const [from = '', to = ''] = dirname(file).split('-');
      const number = basename(file).slice(0, 4);
      return file.endsWith('.sql') && !(from <= number && number <= to);
    });
    expect(misplaced).toEqual([]);
  });

  /** As the first version noted them, where three numbers were used twice and one was missing. */
  const earlier = present.slice(0, 25).map(({ name }, at) => {
    const numbers = [1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 14, 15, 16, 17, 18, 19, 20, 22, 23];
    return `${String(numbers[at]).padStart(4, '0')}${name.slice(4)}`;
  });
  const next = { name: '9000-next', text: 'create table next_things (id bigint);' };

  test('a database of earlier names continues with the current ones, and has each migration once', async () => {
    const { url, client } = await ownDatabase();
    await migrate(url, present.slice(0, 25));
    for (const [at, name] of earlier.entries())
      await client.query('update platform_migration set name = $1 where id = $2', [name, at + 1]);
    const database = await Database.open({ databaseUrl: url, poolSize: 2 });
    onTestFinished(() => database.close());
    // While nothing is to be run, a process of the earlier version may still be started: it knows these names alone.
    expect(await migrate(url, present.slice(0, 25))).toEqual([]);
    expect(await namesIn(client, 'platform_migration')).toEqual([...earlier].sort());
    expect(await migrate(url, [...present, next])).toEqual([
      ...present.slice(25).map(({ name }) => name),
      next.name,
    ]);
    expect(await namesIn(client, 'platform_migration')).toEqual([
      ...present.map(({ name }) => name),
      next.name,
    ]);
    await expect(checkSchema(database)).rejects.toThrow('DATABASE_URL: the database is at 9000-next, ');
    await client.query(`delete from platform_migration where name = '9000-next'`);
    await checkSchema(database);
  });

  test('a table of the authentication service with names of files continues with the current ones', async () => {
    const { url, client } = await ownDatabase();
    await migrateAuth(url, 'administrator-of-the-tests');
    await client.query(`update auth.migrations set name = name || '.sql'`);
    await checkAuthSchema(url);
    expect(await migrateAuth(url, undefined)).toBeNull();
    expect(await namesIn(client, 'auth.migrations')).toEqual(
      authMigrations.migrations.map(({ name }) => `${name}.sql`),
    );
    await checkAuthSchema(url);
  });
});
