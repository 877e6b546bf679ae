/** A database with many sessions, and how many of its rows some work reads. */
import { randomUUID } from 'node:crypto';
import { Database } from '../../store/connection/database.ts';
import type { Graph } from './graph.ts';

/**
 * Copies the rows of a session; ids are moved by a distance that differs for each copy. Statistics are collected
 * afterwards, after which PostgreSQL plans each statement again.
 */
export async function copySession(
  database: Database,
  graph: Pick<Graph, 'sessionId'>,
  count: number,
): Promise<void> {
  await copyRows(database, graph, count);
  await database.query('analyze');
}

/** As {@link copySession}, without statistics. */
export async function copyRows(
  database: Database,
  graph: Pick<Graph, 'sessionId'>,
  count: number,
): Promise<void> {
  const moved = (column: string) =>
    `case when ${column} is not null then ${column} + 1000000 + copy.i * 100 end`;
  const movedAll = (column: string) => `array(select x + 1000000 + copy.i * 100 from unnest(${column}) x)`;
  const copies: Readonly<Record<string, readonly [where: string, fields: string]>> = {
    session: ['t.id = $1', `'id', copy.session_id`],
    node_instance: [
      't.session_id = $1',
      `'id', ${moved('t.id')}, 'session_id', copy.session_id, 'parent_ids', ${movedAll('t.parent_ids')},
       'child_ids', ${movedAll('t.child_ids')}, 'newest_output_id', ${moved('t.newest_output_id')}`,
    ],
    node_run: [
      't.session_id = $1',
      `'id', copy.run_id, 'session_id', copy.session_id, 'node_instance_id', ${moved('t.node_instance_id')}`,
    ],
    node_attempt: ['t.session_id = $1', `'run_id', copy.run_id, 'session_id', copy.session_id`],
    node_claim: [
      't.run_id in (select id from node_run where session_id = $1)',
      `'task_id', copy.task_id, 'run_id', copy.run_id`,
    ],
    node_output: [
      't.node_instance_id in (select id from node_instance where session_id = $1)',
      `'id', ${moved('t.id')}, 'node_instance_id', ${moved('t.node_instance_id')}, 'object_key', t.object_key || copy.i,
       'run_id', case when t.run_id is not null then copy.run_id end`,
    ],
  };
  await database.transaction(async (tx) => {
    // Rows of these copies need neither announcements nor cards.
    await tx.query('set local session_replication_role = replica');
    // Without a temporary table, whose schema would make PostgreSQL plan each statement again.
    const seed = randomUUID();
    const id = (kind: string) => `md5('${seed}${kind}' || i)::uuid as ${kind}_id`;
    const copy = `(select i, ${id('session')}, ${id('run')}, ${id('task')} from generate_series(1, ${count}) i) copy`;
    for (const [table, [where, fields]] of Object.entries(copies))
      await tx.query(
        `insert into ${table} overriding system value
         select r.* from ${copy}, ${table} t, jsonb_populate_record(t, jsonb_build_object(${fields})) r where ${where}`,
        [graph.sessionId],
      );
  });
}

/** Rows that statements have read of each table so far, by scans and by indexes. */
async function rowsRead(databaseUrl: string): Promise<Readonly<Record<string, number>>> {
  const reader = await Database.open({ databaseUrl, poolSize: 1 });
  try {
    const rows = await reader.query<{ name: string; read: number }>(
      `select relname as name, seq_tup_read + coalesce(idx_tup_fetch, 0) as read from pg_stat_user_tables
        where schemaname = 'public'`,
    );
    return Object.fromEntries(rows.map(({ name, read }) => [name, read]));
  } finally {
    await reader.close();
  }
}

/**
 * What `work` reads of each table; its connections are its own, and report what they read at their end.
 * @param database of the test: what its connections have read so far must not count as the work's
 */
export async function readBy(
  database: Database,
  work: (database: Database) => Promise<void>,
): Promise<Record<string, number>> {
  const own = await Database.open({ databaseUrl: addressOf(database), poolSize: 2 });
  return await readUntilClosed(database, own, work);
}

/** As {@link readBy}, by connections that were used before. They are closed. */
export async function readUntilClosed(
  database: Database,
  own: Database,
  work: (database: Database) => Promise<void>,
): Promise<Record<string, number>> {
  await reportReads(database);
  const before = await rowsRead(addressOf(database));
  try {
    await work(own);
  } finally {
    await own.close();
  }
  const after = await rowsRead(addressOf(database));
  return Object.fromEntries(Object.entries(after).map(([name, read]) => [name, read - (before[name] ?? 0)]));
}

const addressOf = (database: Database) => database.pool.options.connectionString!;

/** Each open connection reports what it has read at once. By itself it does so up to ten seconds later. */
async function reportReads({ pool }: Database): Promise<void> {
  const clients = await Promise.all(Array.from({ length: pool.totalCount }, () => pool.connect()));
  for (const client of clients) {
    await client.query('select pg_stat_force_next_flush()');
    client.release();
  }
}
