/** Advisory locks around work that one process at a time does. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { advisoryLocks } from '../../store/connection/advisory-locks.ts';
import { withLock } from '../../store/connection/healer-lock.ts';
import { openDatabase } from '../support/databases.ts';
import { testEnvironment } from '../support/stack.ts';

const platform = await testEnvironment();
const one = await openDatabase(platform, 2);
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
