/** Sessions with metadata, states and nodes, written by the database itself. */
import { Database } from '../../../store/connection/database.ts';
import type { BenchPlatform } from './platform.ts';

const seeding = [
  `insert into platform_user (external_id, type)
   select ('00000000-0000-4000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, 'Developer' from generate_series(0, 4999) i
   on conflict do nothing`,
  `insert into session_template (name, configuration)
   select 'template ' || i, '{}' from generate_series((select count(*) + 1 from session_template), 20) i`,
  `insert into project (hex_id, title, owner_id)
   select lpad(to_hex(i), 16, '0'), 'project ' || i, (select min(id) from platform_user)
     from generate_series((select count(*) + 1 from project), 50) i`,
];
const seedSessions = `
  insert into session (id, name, email_identifier, email_key, simulation_name, session_template_id, project_id, user_id,
                       metadata, created_at)
  select (lpad(to_hex(1700000000000 + i * 30000), 12, '0') || '7' || substr(md5(i::text), 1, 3) || '8'
          || substr(md5(i::text), 4, 15))::uuid,
         (array['Morning flight', 'Night landing', 'Docking', 'Convoy', 'Rescue', 'Bridge', 'Harbour', 'Field'])[1 + i % 8]
           || ' ' || (array['alpha', 'bravo', 'charlie', 'delta', 'echo', 'foxtrot'])[1 + i / 8 % 6] || ' ' || i,
         '00000000-0000-4000-8000-' || lpad(to_hex(i % 5000), 12, '0'), 'anon:' || md5((i % 5000)::text),
         'simulation-' || i % 300 || ' run', t.ids[1 + i % array_length(t.ids, 1)], 1 + i * 7919 % 50,
         ('00000000-0000-4000-8000-' || lpad(to_hex(i % 5000), 12, '0'))::uuid,
         jsonb_build_object(
           'vehicle', jsonb_build_object('kind', (array['truck', 'car', 'tank', 'plane'])[1 + i % 4], 'number', i % 20000),
           'weather', jsonb_build_object('wind', (i * 37 % 10000) / 100.0, 'rain', i % 7 = 0),
           'tags', jsonb_build_array('t' || i % 50, 'u' || i % 977), 'run', i, 'operator', 'operator-' || i % 5000,
           'place', 'place-' || i % 53 % 50, 'notes', md5(i::text)),
         timestamptz '2023-11-14T22:13:20Z' + i * interval '30 seconds'
    from generate_series($1::bigint, $2::bigint) i,
         (select array_agg(id order by id) as ids from session_template) t`;

/** One in fifty has failed, one in twenty not begun, two hundred run; the newest 20,000 have their three nodes. */
const seedWork = [
  `update session_activity a set failed = x.place % 50 = 0, started = x.place % 20 <> 1
     from (select session_id, row_number() over (order by created_at desc) as place from session_search) x
    where x.session_id = a.session_id`,
  `insert into node_instance (session_id, ordinal, name, node_template_id, configuration, state)
   select x.session_id, n, 'node ' || n, t.id, '{}', case when n = 3 and a.failed then 2 when a.started then 3 else 0 end
     from (select session_id from session_search order by created_at desc limit 20000) x
     join session_activity a on a.session_id = x.session_id cross join generate_series(1, 3) n
     cross join (select min(id) as id from node_template) t`,
  `insert into node_run (id, session_id, node_instance_id, template_name, runner_type, reason, state, max_attempts, queue_time)
   select gen_random_uuid(), n.session_id, n.id, 'none', 'none', 'input', 'queued', 1, now()
     from node_instance n join session_activity a on a.session_id = n.session_id
    where n.ordinal = 2 and a.started and not a.failed order by n.id desc limit 200`,
  'insert into node_attempt (run_id, number, session_id) select id, 1, session_id from node_run',
];

/** The database of a platform, for statements that take minutes. */
export async function openForSeeding({ stack }: Pick<BenchPlatform, 'stack'>): Promise<Database> {
  const databaseUrl = stack.environment.DATABASE_URL ?? '';
  return await Database.open({ databaseUrl, poolSize: 2, maxStatementMs: 3_600_000 });
}

/** Cards and their indices are made when all sessions are there: row by row it would need many minutes. */
export async function seedSessionsInto(database: Database, sessions: number): Promise<void> {
  const started = performance.now();
  for (const statement of seeding) await database.query(statement);
  const indices = await database.query<{ name: string; definition: string }>(
    `select indexname as name, indexdef as definition from pg_indexes
      where tablename = 'session_search' and indexname <> 'session_search_pkey'`,
  );
  for (const { name } of indices) await database.query(`drop index ${name}`);
  await database.query('alter table session disable trigger session_search_made');
  const batch = 50_000;
  for (let from = 1; from <= sessions; from += batch) {
    await database.query(seedSessions, [from, Math.min(from + batch - 1, sessions)]);
  }
  await withMemory(database, 'alter table session_search disable trigger session_search_counted_once');
  await withMemory(
    database,
    'insert into session_search select made.* from session s, lateral session_search_of(s) made on conflict do nothing',
  );
  await database.query('alter table session_search enable trigger session_search_counted_once');
  await database.query('truncate session_count');
  await database.query(
    'insert into session_count select project_id, session_template_id, count(*) from session_search group by 1, 2',
  );
  await database.query('alter table session enable trigger session_search_made');
  for (const { definition } of indices) await withMemory(database, definition);
  for (const statement of seedWork) await withMemory(database, statement);
  for (const table of [
    'session_search',
    'session',
    'session_count',
    'session_activity',
    'node_instance',
    'node_run',
  ])
    await withMemory(database, `vacuum analyze ${table}`);
  console.log(`${sessions} sessions seeded in ${((performance.now() - started) / 1000).toFixed(0)} s`);
  for (const { name, size } of await database.query<{ name: string; size: string }>(
    `select relname as name, pg_size_pretty(pg_relation_size(oid)) as size from pg_class
      where relname like 'session_search%' and relkind in ('r', 'i') order by pg_relation_size(oid) desc`,
  ))
    console.log(`  ${name.padEnd(40)} ${size}`);
}

async function withMemory(database: Database, statement: string): Promise<void> {
  const client = await database.pool.connect();
  try {
    await client.query("set maintenance_work_mem = '512MB'");
    await client.query(statement);
    await client.query('reset maintenance_work_mem');
  } finally {
    client.release();
  }
}
