import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { testEnvironment } from '../support/stack.ts';

const platform = await testEnvironment({ ownStack: true });

test('the log of the embedded database has the refusals, and neither row nor statement', async () => {
  const client = new pg.Client(platform.databaseUrl);
  await client.connect();
  await client.query('create table people (address text primary key, check (length(address) > 3))');
  const address = 'ann@example.org';
  await client.query('insert into people values ($1)', [address]);
  for (const values of [`('${address}')`, "('@')"])
    await expect(client.query(`insert into people values ${values}`)).rejects.toThrow('violates');
  await expect(client.query('insert into people values ($1)', [address])).rejects.toThrow('violates');
  await client.end();
  const log = () => readFileSync(join(platform.stack?.dataDir ?? '', 'logs', 'postgres.log'), 'utf8');
  await eventually('the refusals are logged', () => log().includes('violates check constraint'));
  expect(log()).toContain('duplicate key value violates unique constraint "people_pkey"');
  expect(log()).not.toMatch(/Key \(address\)|Failing row|insert into people/);
});
