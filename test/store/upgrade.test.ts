import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { migrateAuth } from '../../auth/migrate.ts';
import type { Database } from '../../store/connection/database.ts';
import { isStepwise, stepsOf } from '../../store/connection/migration-steps.ts';
import { platformMigrations } from '../../store/connection/migrations.ts';
import { checkSchema } from '../../store/connection/schema-check.ts';
import { migrate } from '../../store/migrate.ts';
import { ensurePlatformDataSource } from '../../store/objects/data-sources.ts';
import { startWorker } from '../../worker/main.ts';
import { ask, startTestApi, type TestApi, tokenOf } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { chain, claim, finish, makeGraph, outsideTemplate, upload } from '../support/graph.ts';
import { testProcesses } from '../support/processes.ts';
import { testEnvironment } from '../support/stack.ts';
import { stretched } from '../support/stretched.ts';

const platform = await testEnvironment();
const processes = testProcesses(platform.environment);
const present = platformMigrations.migrations;
let api: TestApi;
let database: Database;
const tables = new pg.Client(platform.databaseUrl);

beforeAll(async () => {
  api = await startTestApi(platform.environment);
  database = api.composed.services.database;
  await ensurePlatformDataSource(database, api.composed.services.objects.platformAccess);
  await tables.connect();
});
afterAll(async () => {
  await tables.end();
  await api.stop();
});

/** A possible migration of the next version: it acquires the heaviest locks on the busiest tables, for a moment. */
const next = {
  name: '9000-next',
  text: `
    alter table session add column next_note text;
    alter table node_output add column next_note text not null default '';
    alter table node_run add column next_count integer not null default 0;
    create table next_things (id bigint generated always as identity primary key);`,
};

/** What clients do all the time: uploads, claims, outcomes, and calls of people. */
async function writeUntil(isOver: () => boolean, token: string) {
  const slowest = { ms: 0 };
  const failures: unknown[] = [];
  let done = 0;
  const timed = async (work: () => Promise<unknown>) => {
    const startedMs = performance.now();
    try {
      await work();
      done += 1;
    } catch (error) {
      failures.push(error);
    }
    slowest.ms = Math.max(slowest.ms, performance.now() - startedMs);
  };
  const template = `outside-${randomBytes(4).toString('hex')}`;
  await outsideTemplate(database, template);
  const runner = { holder: 'token', instanceId: 'runner' };
  const graphs = async () => {
    const graph = await makeGraph(database, chain(1, template));
    while (!isOver()) {
      await timed(() => upload(database, graph, 'input'));
      await timed(async () => {
        const task = await claim(database, runner, template);
        if (task) await finish(database, runner, graph, task);
      });
    }
  };
  const people = async () => {
    while (!isOver()) {
      await timed(async () => {
        const answer = await ask(api.url, 'POST', '/projects', { token, json: { Title: 'Under load' } });
        if (answer.status !== 201) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
      });
    }
  };
  await Promise.all([graphs(), people(), people()]);
  return { done, failures, slowestMs: slowest.ms };
}

test('the newest migrations come in while clients write and somebody reads for long; processes of the version before go on', async () => {
  const { username, password } = platform.administrator;
  const token = await tokenOf(api.url, username, password);
  let isOver = false;
  const writing = writeUntil(() => isOver, token);
  // A report that reads for long: the migration cannot acquire its locks until that ends.
  const reader = new pg.Client(platform.databaseUrl);
  await reader.connect();
  await reader.query('begin');
  await reader.query('select count(*) from session');
  const migrating = migrate(platform.databaseUrl, [...present, next]);
  let tries = 0;
  await eventually('the migration has waited, let all others pass, and waited again', async () => {
    const { rows } = await tables.query(
      `select 1 from pg_locks l join pg_stat_activity a on a.pid = l.pid
        where not l.granted and l.mode = 'AccessExclusiveLock' and a.datname = current_database()`,
    );
    tries += rows.length;
    return tries >= 3;
  });
  await reader.query('commit');
  await reader.end();
  expect(await migrating).toEqual(['9000-next']);
  await tables.query('select next_note from session limit 1');
  // The processes of the version before work on the schema of the next one.
  const before = Number((await tables.query('select count(*) from project')).rows[0].count);
  await eventually('clients go on writing', async () => {
    return Number((await tables.query('select count(*) from project')).rows[0].count) > before + 3;
  });
  isOver = true;
  const { done, failures, slowestMs } = await writing;
  expect(failures).toEqual([]);
  expect(done).toBeGreaterThan(10);
  // No client waits for the whole time of the reader.
  expect(slowestMs).toBeLessThan(stretched(10_000));
});

describe('a version that does not know the schema', () => {
  test('does not start, and reports the reason in one line', async () => {
    const refusal =
      /^DATABASE_URL: the database is at 9000-next, which this version of the platform does not know/;
    await expect(startWorker({ LOG_LEVEL: 'silent', ...platform.environment }, 'workflows')).rejects.toThrow(
      refusal,
    );
    const child = processes.startScript('api/main.ts', { ...platform.environment, PORT: '0' });
    expect(await child.ended).toBe(1);
    expect(child.log().trim()).toMatch(refusal);
    expect(child.log().trim().split('\n')).toHaveLength(1);
  });

  test('does not say that it migrated it either', async () => {
    await expect(migrate(platform.databaseUrl)).rejects.toThrow(
      'DATABASE_URL: the database is at 9000-next, ',
    );
  });

  test('is refused by the authentication service alone, too', async () => {
    await tables.query(`insert into auth.migrations (name) values ('9000_next.sql')`);
    const child = processes.startScript('auth/main.ts', { ...platform.environment, PORT: '0' });
    expect(await child.ended).toBe(1);
    expect(child.log().trim()).toMatch(/^DATABASE_URL: the schema auth is at 9000_next.sql, .*$/);
    await expect(migrateAuth(platform.databaseUrl, undefined)).rejects.toThrow(
      'the schema auth is at 9000_next',
    );
  });

  test('also reports an older schema, and the remedy', async () => {
    await tables.query(`delete from platform_migration where name in ('9000-next', '0020-retention')`);
    await expect(checkSchema(database)).rejects.toThrow(
      'DATABASE_URL: the database lacks 0020-retention. Migrate it first: node store/migrate.ts.',
    );
  });
});

describe('migrations since processes go on while they run', () => {
  /** It renames, once, and docs/operations/upgrade.md says what that costs. */
  const renaming = '0026-names';
  const newer = present.filter(({ name }) => name >= '0018' && name !== renaming);
  /** Statements that would break a process of the version before, or lock a large table for long. */
  const forbidden = [
    /\bdrop (table|column|view|index(?! concurrently))\b/i,
    /\brename\b/i,
    /\balter column\b(?!\s+\w+\s+set statistics\s)/i,
    /\bset not null\b/i,
    /(^|;)\s*truncate\b/i,
    /\badd column\s+\S+\s+[^,;]*\bnot null\b(?![^,;]*\bdefault\b)/i,
    /\badd column\s+[^,;]*\bdefault\s+\(?(clock_timestamp|random|gen_random_uuid|uuidv7|nextval)/i,
    /\badd (constraint|foreign key|check|unique|primary key)\b(?![^;]*not valid)/i,
  ];

  const withoutComments = (text: string) => text.replace(/--.*$/gm, '');
  const tablesIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, table]) => table);
  /** Statements of a transaction on tables that it did not make itself: they are as slow as these are large. */
  const heldUp = (all: string) => {
    const text = withoutComments(all).replace(/\$\$[\s\S]*?\$\$/g, '');
    const made = tablesIn(text, /\bcreate (?:unlogged )?table (\w+)/gi);
    return [
      ...tablesIn(text, /\bcreate (?:unique )?index \w+ on (\w+)/gi),
      ...tablesIn(text, /(?:^|;)\s*(?:update|insert into|delete from) (\w+)/gi),
    ].filter((table) => !made.includes(table));
  };

  test.each(newer)('$name only adds', ({ text }) => {
    for (const pattern of forbidden) expect(withoutComments(text)).not.toMatch(pattern);
    if (isStepwise(text)) expect(() => stepsOf(text)).not.toThrow();
    else expect(heldUp(text), 'their writers would wait: let it be stepwise').toEqual([]);
  });

  test('the check would see a migration that does more', () => {
    for (const text of [
      'alter table session drop column name',
      'alter table session rename column name to title',
      'alter table session add column x text not null',
      'alter table session add column x uuid not null default gen_random_uuid()',
      'alter table session alter column name type varchar(10)',
      'alter table session add constraint c check (true)',
    ]) {
      expect(
        forbidden.some((pattern) => pattern.test(text)),
        text,
      ).toBe(true);
    }
    for (const text of ['create index x on session (name)', "update session set name = ''"])
      expect(heldUp(text)).toEqual(['session']);
  });
});
