/**
 * What a node run through a graph writes: WAL, rows, disk and connections of PostgreSQL, and what Temporal records of it.
 * The model of docs/operations/scale.md is made from it. Run: `npm run bench:cost`.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { throughGraphs } from './runs.bench.ts';
import { cpuSeconds, printCpu } from './support/cpu.ts';
import { report } from './support/figures.ts';
import { importTemplate, register, runnerTokenClient } from './support/outside-runner.ts';
import { type BenchPlatform, printMachine, startBenchPlatform } from './support/platform.ts';

const sessionCount = 20;
const settledMs = 3_000;

/** What a server has counted since its start. */
type Counters = Readonly<Record<string, number>>;

/** Figures of one node run, by the name in the table and the counter that they come from. */
const figures = {
  wal_bytes: ['WAL of a node run', 'KB', 1 / 1_024],
  wal_full_pages: ['full pages in the WAL of a node run', 'times', 1],
  write_transactions: ['transactions of a node run that write', 'times', 1],
  commits: ['transactions of a node run', 'times', 1],
  rows_inserted: ['rows inserted by a node run', 'times', 1],
  rows_updated: ['rows updated by a node run', 'times', 1],
  rows_deleted: ['rows deleted by a node run', 'times', 1],
  database_bytes: ['growth of the database by a node run', 'KB', 1 / 1_024],
} as const;

async function postgresCounters(database: pg.Client): Promise<Counters> {
  const { rows } = await database.query<Counters>(`
    select w.wal_bytes::float8, w.wal_fpi::float8 as wal_full_pages,
           pg_snapshot_xmax(pg_current_snapshot())::text::float8 as write_transactions, d.xact_commit::float8 as commits,
           d.tup_inserted::float8 as rows_inserted, d.tup_updated::float8 as rows_updated,
           d.tup_deleted::float8 as rows_deleted, pg_database_size(d.datname)::float8 as database_bytes
      from pg_stat_wal w, pg_stat_database d where d.datname = current_database()`);
  return rows[0]!;
}

/** Tables that grow most, with their indexes. */
async function tableBytes(database: pg.Client): Promise<Counters> {
  const { rows } = await database.query<{ name: string; bytes: number }>(`
    select c.relname as name, pg_total_relation_size(c.oid)::float8 as bytes
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind = 'r' and n.nspname in ('public', 'auth')`);
  return Object.fromEntries(rows.map(({ name, bytes }) => [name, bytes]));
}

async function connectionCount(database: pg.Client): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity where datname = current_database() and backend_type = 'client backend'`,
  );
  return rows[0]!.count;
}

/** Events in the histories of all workflows, by type. */
async function historyEvents(client: Client): Promise<Counters> {
  const counts: Record<string, number> = {};
  for await (const { workflowId, runId } of client.workflow.list()) {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    for (const { eventType } of events ?? []) {
      const name = String(eventType);
      counts[name] = (counts[name] ?? 0) + 1;
    }
  }
  return counts;
}

const difference = (after: Counters, before: Counters): Array<[string, number]> =>
  Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? 0)]);

/** The processor time of the platform alone, without this process. */
function reportCpu(before: Counters, after: Counters, count: number): void {
  const parts = difference(after, before)
    .filter(([part]) => part !== 'bench')
    .map(([part, seconds]): [string, number] => [part, (seconds * 1_000) / count]);
  const all = parts.reduce((sum, [, ms]) => sum + ms, 0);
  for (const [part, ms] of [['all parts', all] as const, ...parts])
    report({ name: `processor time of a node run, ${part}`, unit: 'ms', values: [ms] });
}

async function measure(platform: BenchPlatform, database: pg.Client, temporal: Client): Promise<void> {
  const { client } = platform;
  await register(client, 'graph-node');
  const runnerClient = await runnerTokenClient(platform, 'graph-node');
  const template = await importTemplate(client, 'graph-node', 5, 10);
  // The first round warms up.
  await throughGraphs(platform, template, runnerClient, 4);
  await delay(settledMs);
  const before = await postgresCounters(database);
  const tablesBefore = await tableBytes(database);
  const eventsBefore = await historyEvents(temporal);
  const cpuBefore = cpuSeconds(platform);
  const { total, seconds } = await throughGraphs(platform, template, runnerClient, sessionCount);
  const connections = await connectionCount(database);
  await delay(settledMs);
  const after = await postgresCounters(database);
  console.log(`${total} node runs in ${seconds.toFixed(1)} s, ${connections} connections`);
  printCpu(platform, cpuBefore, total);
  reportCpu(cpuBefore, cpuSeconds(platform), total);
  for (const [name, [title, unit, factor]] of Object.entries(figures)) {
    const value = ((after[name]! - before[name]!) / total) * factor;
    report({ name: title, unit, values: [value] });
    console.log(title.padEnd(58), value.toFixed(2), unit);
  }
  const tables = difference(await tableBytes(database), tablesBefore);
  for (const [name, bytes] of tables.sort(([, one], [, other]) => other - one).slice(0, 10))
    console.log(`    ${name.padEnd(30)} ${(bytes / total / 1_024).toFixed(2)} KB`);
  const events = difference(await historyEvents(temporal), eventsBefore);
  const all = events.reduce((sum, [, count]) => sum + count, 0);
  report({ name: 'history events of a node run in Temporal', unit: 'times', values: [all / total] });
  console.log('history events of a node run in Temporal'.padEnd(58), (all / total).toFixed(2));
  for (const [name, count] of events.sort(([, one], [, other]) => other - one))
    console.log(`    event ${name.padEnd(24)} ${(count / total).toFixed(3)}`);
}

printMachine();
const platform = await startBenchPlatform();
const { environment } = platform.stack;
const database = new pg.Client(environment.DATABASE_URL);
const connection = await Connection.connect({ address: environment.TEMPORAL_ADDRESS! });
try {
  await database.connect();
  await measure(
    platform,
    database,
    new Client({ connection, namespace: environment.TEMPORAL_NAMESPACE ?? 'default' }),
  );
} finally {
  await Promise.allSettled([database.end(), connection.close()]);
  await platform.stop();
}
