/** The statements of a node run read rows by index, however many other runs and outputs there are. */
import { afterAll, expect, test } from 'vitest';
import { Database } from '../../../store/connection/database.ts';
import { endTask } from '../../../store/runs/end-task.ts';
import { renewLease } from '../../../store/runs/lease.ts';
import { reconcileSession } from '../../../store/runs/reconcile-session.ts';
import { rejectInput } from '../../../store/runs/rejections.ts';
import { requestReprocess } from '../../../store/runs/reprocess.ts';
import { listInputs } from '../../../store/runs/task-inputs.ts';
import { writeWatermark } from '../../../store/runs/watermark.ts';
import { chain, claim, finish, type Graph, makeGraph, upload, writeOne } from '../../support/graph.ts';
import { testEnvironment } from '../../support/stack.ts';
import { completed, runWorld } from './run-world.ts';

const platform = await testEnvironment();
const database = await Database.open({ databaseUrl: platform.databaseUrl, poolSize: 4 });
afterAll(() => database.close());
const { ownTemplate, runner } = runWorld(database);

/** Sessions beside the one that is measured, each with the rows of a run that has ended. */
const others = 4_000;
/** Of one table, by all statements of one round. A scan of any of them would read {@link others} at the least. */
const mostRowsRead = 1_500;

/** Copies the rows of a session; ids are moved by a distance that differs for each copy. */
async function copySession(graph: Graph): Promise<void> {
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
    await tx.query(`create temporary table copy on commit drop as
      select i, gen_random_uuid() as session_id, gen_random_uuid() as run_id, gen_random_uuid() as task_id
        from generate_series(1, ${others}) i`);
    for (const [table, [where, fields]] of Object.entries(copies))
      await tx.query(
        `insert into ${table} overriding system value
         select r.* from copy, ${table} t, jsonb_populate_record(t, jsonb_build_object(${fields})) r where ${where}`,
        [graph.sessionId],
      );
  });
  await database.query('analyze');
}

/** Rows that statements have read of each table so far, by scans and by indexes. */
async function rowsRead(): Promise<Readonly<Record<string, number>>> {
  const reader = await Database.open({ databaseUrl: platform.databaseUrl, poolSize: 1 });
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

/** What `work` reads of each table; its connections are its own, and report what they read at their end. */
async function readBy(work: (database: Database) => Promise<void>): Promise<Record<string, number>> {
  const before = await rowsRead();
  const own = await Database.open({ databaseUrl: platform.databaseUrl, poolSize: 2 });
  try {
    await work(own);
  } finally {
    await own.close();
  }
  const after = await rowsRead();
  return Object.fromEntries(Object.entries(after).map(([name, read]) => [name, read - (before[name] ?? 0)]));
}

const tooMuch = (read: Record<string, number>) =>
  Object.fromEntries(Object.entries(read).filter(([, rows]) => rows > mostRowsRead));

test('a node run, whatever its end, reads no table from end to end', async () => {
  const template = await ownTemplate();
  const incremental = await ownTemplate({ incremental: true });
  const ended = await makeGraph(database, chain(1, template));
  await upload(database, ended, 'input');
  await finish(database, runner('a'), ended, (await claim(database, runner('a'), template))!);
  await copySession(ended);

  // A prepared statement is planned anew for its first five uses.
  const graphs = await Promise.all(Array.from({ length: 7 }, () => makeGraph(database, chain(2, template))));
  const followed = await Promise.all(
    Array.from({ length: 7 }, () => makeGraph(database, chain(1, incremental))),
  );
  const read = await readBy(async (own) => {
    for (const graph of graphs) {
      await upload(own, graph, 'input', 'a');
      await upload(own, graph, 'input', 'a');
      for (let node = 0; node < 2; node++) {
        const task = (await claim(own, runner('a'), template))!;
        const held = (await renewLease(own, runner('a'), task.taskId))!;
        for (const mode of ['all', 'latest', 'since-watermark'] as const)
          await listInputs(own, held, { mode, afterPosition: 0, limit: 10, cap: 10 });
        await finish(own, runner('a'), graph, task);
        await reconcileSession(own, graph.sessionId);
      }
      await requestReprocess(own, graph.nodes.n2!, null);
      const again = (await claim(own, runner('a'), template))!;
      await endTask(own, runner('a'), again.taskId, { kind: 'fail', category: 'error', reason: 'x' }, 'x', 0);
    }
    for (const graph of followed) {
      const { output } = await upload(own, graph, 'input');
      await upload(own, graph, 'input');
      const task = (await claim(own, runner('a'), incremental))!;
      await rejectInput(own, runner('a'), task.taskId, {
        inputId: output.id,
        category: 'validation',
        reason: 'x',
      });
      await writeOne(own, runner('a'), graph, task);
      await writeWatermark(own, runner('a'), task.taskId, output.id, {});
      await endTask(own, runner('a'), task.taskId, { ...completed, outcome: 'no-output' }, 'x', 0);
    }
  });
  expect(tooMuch(read)).toEqual({});
});
