import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testEnvironment } from '../support/stack.ts';

const platform = await testEnvironment();
const script = fileURLToPath(new URL('../../store/migrate.ts', import.meta.url));
const name = `test_${Math.floor(Date.now() / 1000)}_${randomBytes(4).toString('hex')}`;
const server = new pg.Client(platform.databaseUrl);
const empty = new URL(platform.databaseUrl);
empty.pathname = `/${name}`;

beforeAll(async () => {
  await server.connect();
  await server.query(`create database "${name}"`);
});
afterAll(async () => {
  await server.query(`drop database if exists "${name}" with (force)`);
  await server.end();
});

test('an empty database is migrated without output, and a migrated one does not change', async () => {
  const environment = { ...process.env, DATABASE_URL: empty.href, NODE_OPTIONS: '' };
  for (const _ of ['empty', 'migrated']) {
    const said = await promisify(execFile)(process.execPath, [script], { env: environment });
    expect(said).toEqual({ stdout: '', stderr: '' });
  }
  const client = new pg.Client(empty.href);
  await client.connect();
  const { rows } = await client.query('select count(*)::int as sessions from session');
  await client.end();
  expect(rows).toEqual([{ sessions: 0 }]);
});
