/** Brings the database named by `DATABASE_URL` to the newest schema; waits while another process does the same. */
import { setTimeout as delay } from 'node:timers/promises';
import type { MigrationObject } from '@mikro-orm/core';
import pg from 'pg';
import { readSettings, SettingsError } from '../settings/read.ts';
import { advisoryLocks } from './connection/advisory-locks.ts';
import { Database } from './connection/database.ts';
import { migrationsList } from './connection/migrations.ts';
import { databaseSettings } from './connection/settings.ts';
import { grantRoles } from './roles.ts';

/** A lock on a busy table was not to be had in a moment, or somebody else's would have been waited for in a circle. */
const busyCodes = ['55P03', '40P01'];
const pauseMs = { least: 100, most: 700 } as const;
const giveUpAfterMs = 300_000;

/**
 * Runs what is missing of `store/migrations`, under an advisory lock. The platform may be at work meanwhile: a migration
 * that does not get a lock at once lets everybody pass and tries again, for five minutes. Returns the names of what was run.
 * @param migrations other than the product's own, for tests
 */
export async function migrate(
  databaseUrl: string,
  migrations: readonly MigrationObject[] = migrationsList,
): Promise<string[]> {
  const lock = new pg.Client({ connectionString: databaseUrl });
  // A connection that breaks is told by the statement that needs it.
  lock.on('error', () => undefined);
  await lock.connect();
  try {
    await lock.query('select pg_advisory_lock($1)', [advisoryLocks.migration]);
    const database = await Database.open({ databaseUrl, poolSize: 2, migrations });
    try {
      const ran = await upUnderLoad(database);
      await grantRoles(lock);
      return ran;
    } finally {
      await database.close();
    }
  } finally {
    await lock.end();
  }
}

async function upUnderLoad(database: Database): Promise<string[]> {
  const pending = (await database.migrator.getPending()).map(({ name }) => name);
  const giveUpAt = Date.now() + giveUpAfterMs;
  for (;;) {
    try {
      await database.migrator.up();
      return pending;
    } catch (error) {
      if (!isBusy(error) || Date.now() > giveUpAt) throw error;
      await delay(pauseMs.least + Math.random() * (pauseMs.most - pauseMs.least));
    }
  }
}

function isBusy(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (busyCodes.includes((cause as { code?: string }).code ?? '')) return true;
  }
  return false;
}

if (import.meta.main) {
  try {
    const { database } = readSettings({ database: databaseSettings }, process.env);
    await migrate(database.DATABASE_URL);
  } catch (error) {
    console.error(error instanceof SettingsError ? error.message : error);
    process.exitCode = 1;
  }
}
