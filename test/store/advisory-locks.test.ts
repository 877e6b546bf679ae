/** Advisory locks: one number for one purpose, so that unrelated work never waits. */
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { advisoryLocks } from '../../store/connection/advisory-locks.ts';
import { publishManifest } from '../../store/registry/node-templates.ts';
import { recordProcessHeartbeat } from '../../store/runs/expire-leases.ts';
import { databaseStage } from '../support/databases.ts';

const { database, platform } = await databaseStage(2);
const checkout = fileURLToPath(new URL('../../', import.meta.url));

/** Holds the locks on a separate connection until the test is over. */
async function hold(keys: readonly number[]): Promise<void> {
  const client = new pg.Client({ connectionString: platform.databaseUrl });
  await client.connect();
  onTestFinished(() => client.end());
  for (const key of keys) await client.query('select pg_advisory_lock($1)', [key]);
}

const { registry, ...others } = advisoryLocks;

test('a manifest is published while every other lock is held', async () => {
  await hold(Object.values(others));
  const manifest = {
    manifestVersion: 1,
    feature: { name: 'locks', version: '1.0.0', ownershipType: 'ThirdParty' },
    runnerTypes: [{ name: 'locks-runner', runtime: 'external' }],
    nodeTemplates: [],
  };
  const options = { publishedBy: randomUUID(), entrypoints: null };
  expect((await publishManifest(database, manifest, options)).errors).toEqual([]);
});

test('the heartbeat of a process continues while manifests are published', async () => {
  await hold([registry]);
  expect(await recordProcessHeartbeat(database, randomUUID())).toBe(0);
});

test('every lock has a unique number, and all numbers are in one place', () => {
  const numbers = Object.values(advisoryLocks);
  expect(new Set(numbers).size).toBe(numbers.length);
  const elsewhere = ['store', 'api', 'activities', 'auth', 'worker', 'workflows', 'http', 'domain']
    .flatMap((folder) =>
      readdirSync(join(checkout, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
        join(folder, file),
      ),
    )
    .filter((file) => file.endsWith('.ts') && file !== 'store/connection/advisory-locks.ts')
    .flatMap((file) =>
      [...readFileSync(join(checkout, file), 'utf8').matchAll(/\b7_306_\d{3}\b/g)].map(([number]) => ({
        file,
        number: Number(number.replaceAll('_', '')),
      })),
    );
  expect(elsewhere).toEqual([]);
});
