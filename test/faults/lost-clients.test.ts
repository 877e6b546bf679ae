/** A client that vanishes without a word (its machine or its network is gone) does not block others for long. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Database } from '../../store/connection/database.ts';
import { eventually } from '../support/eventually.ts';
import { canDropPackets, dropPackets } from '../support/network/drop-packets.ts';
import { testEnvironment } from '../support/stack.ts';
import { stretched } from '../support/stretched.ts';

const platform = await testEnvironment();

/** A process that holds the lock, and the port of its connection. */
async function holder(kind: string, key: number) {
  const file = fileURLToPath(new URL('lock-holder.ts', import.meta.url));
  const child = spawn(process.execPath, [file, kind, String(key)], {
    env: { ...process.env, DATABASE_URL: platform.databaseUrl },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [port] = await once(child.stdout, 'data');
  return { child, port: Number(port) };
}

describe.runIf(canDropPackets()).concurrent('the lock of a client that is lost for good is released', () => {
  test.each([
    { kind: 'transaction', key: 987_654_321, limitMs: 15_000 },
    { kind: 'connection', key: 987_654_322, limitMs: 20_000 },
  ])('by its $kind', async ({ kind, key, limitMs }) => {
    const database = await Database.open({ databaseUrl: platform.databaseUrl, poolSize: 1 });
    onTestFinished(() => database.close());
    const isFree = async () => {
      const [row] = await database.query<{ free: boolean }>('select pg_try_advisory_xact_lock($1) as free', [
        key,
      ]);
      return row!.free;
    };
    const { child, port } = await holder(kind, key);
    expect(await isFree()).toBe(false);
    onTestFinished(dropPackets(`lost_${kind}`, port).heal);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await isFree()).toBe(false);
    await eventually('the lock is free', isFree, stretched(limitMs));
  });
});
