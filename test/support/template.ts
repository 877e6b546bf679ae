import { execFile } from 'node:child_process';
import { argon2Sync, createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { prepareRoles, roleAddresses } from '../../local/database-roles.ts';

/** The first administrator of every database that tests get. */
export const ADMINISTRATOR = { username: 'admin', password: 'administrator-of-the-tests' } as const;

const checkout = fileURLToPath(new URL('../../', import.meta.url));
const MIGRATIONS = ['store/migrate.ts', 'auth/migrate.ts'];
/** What a migrated database depends on. */
const SOURCES = ['store', 'auth', 'domain'];
const SOURCE_FILES = ['local/database-roles.ts', 'test/support/template.ts'].map((file) =>
  join(checkout, file),
);
/** Any number that no other lock uses. */
const TEMPLATE_LOCK = 7_261_530_118;
const ABANDONED_SECONDS = 2 * 3600;

/** With the time in it, by which `dropAbandonedDatabases` finds what killed runs left. */
export const testDatabaseName = () =>
  `test_${Math.floor(Date.now() / 1000)}_${randomBytes(4).toString('hex')}`;

/** Makes a database with the present schema and nothing in it but what migrations put there. Returns its address. */
export async function cloneTemplate(environment: Record<string, string>): Promise<string> {
  const name = testDatabaseName();
  await withServer(environment, async (client) => {
    // One at a time over all processes: making the template, cloning it and dropping outdated ones exclude each other.
    await client.query('SELECT pg_advisory_lock($1)', [TEMPLATE_LOCK]);
    const template = await ensureTemplate(client, environment);
    await client.query(`CREATE DATABASE "${name}" TEMPLATE "${template}"`);
  });
  return databaseUrl(environment, name);
}

/** Removes a database made by `cloneTemplate`. Throws when connections to it are still open after five seconds. */
export async function dropClone(environment: Record<string, string>, url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  const open = await withServer(environment, async (client) => {
    const left = await connectionsLeft(client, name);
    await client.query(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
    return left;
  });
  if (open.length > 0)
    throw new Error(
      `This file left ${open.length} database connections open. Their last statements:\n${open.join('\n')}`,
    );
}

/** Removes what test runs left that were killed: only on servers that several runs share. */
export async function dropAbandonedDatabases(environment: Record<string, string>): Promise<void> {
  const before = Math.floor(Date.now() / 1000) - ABANDONED_SECONDS;
  await withServer(environment, async (client) => {
    const { rows } = await client.query<{ datname: string }>(
      "SELECT datname FROM pg_database WHERE datname LIKE 'test\\_%' AND split_part(datname, '_', 2)::bigint < $1",
      [before],
    );
    for (const { datname } of rows) await client.query(`DROP DATABASE IF EXISTS "${datname}" WITH (FORCE)`);
  });
}

async function ensureTemplate(client: pg.Client, environment: Record<string, string>): Promise<string> {
  const name = `template_${sourceHash()}`;
  const { rows } = await client.query<{ datname: string }>(
    "SELECT datname FROM pg_database WHERE datname LIKE 'template\\_%'",
  );
  if (rows.some((row) => row.datname === name)) return name;
  for (const { datname } of rows) await client.query(`DROP DATABASE "${datname}" WITH (FORCE)`);
  const unfinished = `${name}_new`;
  await client.query(`CREATE DATABASE "${unfinished}"`);
  const url = databaseUrl(environment, unfinished);
  await prepareRoles(url);
  await migrate({ ...environment, DATABASE_URL: roleAddresses(url).owner });
  await makeSignInFast(url);
  await client.query(`ALTER DATABASE "${unfinished}" RENAME TO "${name}"`);
  return name;
}

function makeSignInFast(url: string): Promise<unknown> {
  const hash = fastHash(ADMINISTRATOR.password);
  return withClient(url, (client) => client.query('UPDATE auth.users SET password_hash = $1', [hash]));
}

async function migrate(environment: Record<string, string>): Promise<void> {
  for (const script of MIGRATIONS) {
    if (!existsSync(join(checkout, script))) continue;
    try {
      await promisify(execFile)(process.execPath, [join(checkout, script)], {
        env: { ...process.env, ...environment, ADMIN_PASSWORD: ADMINISTRATOR.password, NODE_OPTIONS: '' },
      });
    } catch (error) {
      const { stdout, stderr } = error as { stdout?: string; stderr?: string };
      throw new Error(`${script} failed:\n${stdout ?? ''}${stderr ?? ''}`, { cause: error });
    }
  }
}

function sourceHash(): string {
  const hash = createHash('sha256');
  for (const folder of SOURCES.filter((name) => existsSync(join(checkout, name)))) {
    const files = readdirSync(join(checkout, folder), { recursive: true, withFileTypes: true });
    const paths = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
    for (const path of paths.sort()) hash.update(`${path}\0`).update(readFileSync(path));
  }
  for (const path of SOURCE_FILES) hash.update(readFileSync(path));
  return hash.digest('hex').slice(0, 16);
}

async function connectionsLeft(client: pg.Client, name: string): Promise<string[]> {
  const deadline = Date.now() + 5_000;
  for (;;) {
    const { rows } = await client.query<{ line: string }>(
      `SELECT concat_ws(' ', application_name, state, left(query, 200)) AS line FROM pg_stat_activity
       WHERE datname = $1 AND backend_type = 'client backend'`,
      [name],
    );
    if (rows.length === 0 || Date.now() > deadline) return rows.map((row) => row.line);
    await client.query('SELECT pg_sleep(0.05)');
  }
}

function databaseUrl(environment: Record<string, string>, name: string): string {
  const url = new URL(environment.DATABASE_URL ?? '');
  url.pathname = `/${name}`;
  return url.href;
}

function withServer<T>(
  environment: Record<string, string>,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  return withClient(databaseUrl(environment, 'postgres'), work);
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const fastest = { parallelism: 1, memory: 8, passes: 1, tagLength: 32 } as const;

/**
 * A hash of a password that is checked fast: it carries its parameters. Those of the product take 25 ms of a processor
 * each, and nearly every test file signs several people in.
 */
export function fastHash(password: string): string {
  const nonce = randomBytes(16);
  const hash = argon2Sync('argon2id', { message: password, nonce, ...fastest });
  const [salt, tag] = [nonce, hash].map((bytes) => bytes.toString('base64').replaceAll('=', ''));
  return `$argon2id$v=19$m=${fastest.memory},t=${fastest.passes},p=${fastest.parallelism}$${salt}$${tag}`;
}
