import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { emptyDatabase } from '../support/databases.ts';
import { testEnvironment } from '../support/stack.ts';

const platform = await testEnvironment();
const script = fileURLToPath(new URL('../../store/migrate.ts', import.meta.url));
const { url, drop } = await emptyDatabase(platform.databaseUrl);
afterAll(drop);

test('an empty database is migrated without output, and a migrated one does not change', async () => {
  const environment = { ...process.env, DATABASE_URL: url, NODE_OPTIONS: '' };
  for (const _ of ['empty', 'migrated']) {
    const said = await promisify(execFile)(process.execPath, [script], { env: environment });
    expect(said).toEqual({ stdout: '', stderr: '' });
  }
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query('select count(*)::int as sessions from session');
  await client.end();
  expect(rows).toEqual([{ sessions: 0 }]);
});
