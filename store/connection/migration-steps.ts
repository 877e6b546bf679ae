/**
 * Stepwise migrations: files that begin with `-- stepwise`. Their statements run one after another, each outside of a
 * transaction with the others, so that none holds a lock while the next one runs. Each can be repeated: a migration
 * that was killed starts again at its first statement and skips what is done.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { isConflict } from '../../domain/network/database-fault.ts';

const pauseMs = { least: 100, most: 700 } as const;
const conflictLimitMs = 300_000;
const lockWaitMs = 300;
/** An autovacuum yields to a statement that has waited for a second, and to no other. Services wait for two seconds. */
const longLockWaitMs = 1_400;
const triesForLongWait = 5;

/**
 * A transaction of a migration. A waiting table lock blocks every later request on the table, so this waits briefly,
 * lets the others pass, and tries again, for five minutes; now and then it waits so long that an autovacuum yields.
 */
export async function inTransaction<T>(client: pg.Client, work: () => Promise<T>): Promise<T> {
  const deadlineMs = Date.now() + conflictLimitMs;
  for (let tries = 1; ; tries++) {
    const waitMs = tries % triesForLongWait === 0 ? longLockWaitMs : lockWaitMs;
    try {
      await client.query(`begin; set local lock_timeout = ${waitMs}`);
      const result = await work();
      await client.query('commit');
      return result;
    } catch (error) {
      // The first error is the one to report.
      await client.query('rollback').catch(() => undefined);
      if (!isConflict(error) || Date.now() > deadlineMs) throw error;
      await delay(pauseMs.least + Math.random() * (pauseMs.most - pauseMs.least));
    }
  }
}

export const isStepwise = (text: string) => /^-- stepwise\b/.test(text);

const index = /^create (?:unique )?index concurrently (\w+)\s+on (?:(\w+)\.)?\w+/i;
const batch = /:batch\((\w+(?:\.\w+)?)\)/g;
/** Statements that acquire no lock that blocks writers, and can be repeated. */
const repeatable = /^(drop index concurrently if exists|alter table \S+ validate constraint)\s/i;

/** Blocks of a table that one transaction changes: at first, and then as many as fit in the time. */
const firstBlocks = 16;
const maxBlocks = 4_096;
const batchMs = 100;
/** The next pass finds rows that move during this one. If there are always some, new rows are not yet right. */
const maxPasses = 20;

/** Runs a stepwise migration. @throws Error for a statement that is not allowed in one */
export async function runSteps(client: pg.Client, text: string): Promise<void> {
  for (const step of stepsOf(text)) {
    const [, name, schema = 'public'] = index.exec(step) ?? [];
    if (name !== undefined) await buildIndex(client, step, `${schema}.${name}`);
    // A wait here blocks no writer, so it may last as long as there are readers.
    else if (repeatable.test(step)) await client.query(step);
    else await runInBatches(client, step);
  }
}

/** The statements of a file. @throws Error for one that is not allowed in it */
export function stepsOf(text: string): string[] {
  const steps = text
    .replace(/--.*$/gm, '')
    .split(';')
    .map((step) => step.trim())
    .filter((step) => step !== '');
  const other = steps.find((step) => !index.test(step) && !repeatable.test(step) && step.search(batch) < 0);
  if (other === undefined) return steps;
  throw new Error(
    `A stepwise migration builds and drops indexes concurrently, validates constraints, and changes rows by :batch(table). It has: ${other}`,
  );
}

async function buildIndex(client: pg.Client, statement: string, name: string): Promise<void> {
  const { rows } = await client.query<{ isValid: boolean }>(
    'select indisvalid as is_valid from pg_index where indexrelid = to_regclass($1)',
    [name],
  );
  if (rows[0]?.isValid === true) return;
  // What a killed build leaves: every write maintains it, and no query reads it.
  if (rows.length > 0) await client.query(`drop index concurrently ${name}`);
  await client.query(statement);
}

/**
 * Each batch is a transaction of its own over some blocks of the table: it needs no index and does not grow with the
 * table.
 */
async function runInBatches(client: pg.Client, step: string): Promise<void> {
  const table = [...step.matchAll(batch)][0]?.[1];
  for (let pass = 1; ; pass++) {
    const { rows } = await client.query<{ count: number }>(
      `select (pg_relation_size($1::regclass) / current_setting('block_size')::int)::int as count`,
      [table],
    );
    let changed = 0;
    let size = firstBlocks;
    for (let first = 0; first < rows[0]!.count; ) {
      const range = `(${table}.ctid >= '(${first},0)' and ${table}.ctid < '(${first + size},0)')`;
      const statement = step.replace(batch, range);
      const startedMs = performance.now();
      changed += (await inTransaction(client, () => client.query(statement))).rowCount ?? 0;
      first += size;
      const tookMs = performance.now() - startedMs;
      size = tookMs > batchMs ? Math.max(1, size >> 1) : Math.min(maxBlocks, size * 2);
    }
    if (changed === 0) return;
    if (pass === maxPasses) throw new Error(`There are always rows left to change for: ${step}`);
  }
}
