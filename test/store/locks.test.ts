/** Advisory locks: one number for one purpose, around work that one process at a time does. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { advisoryLocks } from '../../store/connection/advisory-locks.ts';
import { withLock } from '../../store/connection/healer-lock.ts';
import { publishManifest } from '../../store/registry/node-templates.ts';
import { recordProcessHeartbeat } from '../../store/runs/expire-leases.ts';
import { databaseStage, openDatabase } from '../support/databases.ts';

const { database: one, platform } = await databaseStage(2);
const other = await openDatabase(platform, 2);

test('a lock whose release failed does not outlive its work', async () => {
  one.pool.once('acquire', (client) => {
    const query = client.query.bind(client) as (text: string, values: unknown[]) => Promise<unknown>;
    Object.assign(client, {
      query: (text: string, values: unknown[]) =>
        text.includes('unlock') ? Promise.reject(new Error('It did not answer.')) : query(text, values),
    });
  });
  const done: string[] = [];
  await withLock(one, advisoryLocks.retention, async () => void done.push('one'));
  await expect
    .poll(async () => {
      await withLock(other, advisoryLocks.retention, async () => void done.push('other'));
      return done;
    })
    .toEqual(['one', 'other']);
});

test('a process that is frozen at its work does not keep the others from it', async () => {
  const key = advisoryLocks.retention;
  const silentMs = 2_000;
  const script = join(import.meta.dirname, 'lock-holder.ts');
  const holder = spawn(process.execPath, [script, String(key), String(silentMs)], {
    env: { ...process.env, DATABASE_URL: one.pool.options.connectionString },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const isFree = async () => {
    const done: string[] = [];
    await withLock(other, key, async () => void done.push('other'));
    return done.length > 0;
  };
  try {
    await once(holder.stdout, 'data');
    // Longer than it may be silent.
    await expect.poll(() => heldForMs(key), { timeout: 30_000 }).toBeGreaterThan(2 * silentMs);
    expect(await isFree()).toBe(false);
    holder.kill('SIGSTOP');
    await expect.poll(isFree, { timeout: 30_000 }).toBe(true);
  } finally {
    holder.kill('SIGKILL');
  }
});

/** By the connection that has the lock. */
async function heldForMs(key: number): Promise<number> {
  const [holder] = await other.query<{ ms: number }>(
    `select extract(epoch from clock_timestamp() - a.backend_start)::float8 * 1000 as ms
       from pg_locks l join pg_stat_activity a on a.pid = l.pid
      where l.locktype = 'advisory' and l.granted and l.objid = $1::bigint`,
    [key],
  );
  return holder?.ms ?? 0;
}

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
  expect((await publishManifest(one, manifest, options)).errors).toEqual([]);
});

test('the heartbeat of a process continues while manifests are published', async () => {
  await hold([registry]);
  expect(await recordProcessHeartbeat(one, randomUUID())).toBe(0);
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
