/** What years of work leave behind, written directly to the database. */
import type { Database } from '../../../store/connection/database.ts';

/** Spread evenly over the seeded nodes, each with its attempt, its claim and its output. */
const statements = [
  `create temporary table ended on commit drop as
     select gen_random_uuid() as id, n.session_id, n.id as node_id,
            now() - random() * interval '300 days' - interval '1 hour' as at
       from node_instance n cross join generate_series(1, ceil($1::float8 / (select count(*) from node_instance))::int)
      limit $1`,
  `insert into node_run (id, session_id, node_instance_id, template_name, runner_type, reason, state, max_attempts,
                         queue_time, upper_position, outcome, created_at, ended_at)
   select id, session_id, node_id, 'grown-node', 'grown-node-runner', 'input', 'done', 3, at, 1, 'completed', at,
          at + interval '1 second' from ended`,
  `insert into node_attempt (run_id, number, session_id, available_at, started_at, ended_at, outcome, awaited, reported)
   select id, 1, session_id, at, at, at + interval '1 second', 'completed', true, true from ended`,
  `insert into node_claim (task_id, run_id, attempt, holder, instance_id, claimed_at, lease_seconds, lease_until, used,
                           watermark_position, ended_at, ending)
   select gen_random_uuid(), id, 1, 'token:' || gen_random_uuid(), 'instance-' || left(id::text, 2), at, 60,
          at + interval '1 minute', true, 0, at + interval '1 second', 'complete' from ended`,
  `insert into node_output (session_id, node_instance_id, position, run_id, data_source_id, object_key, output_identifier,
                            content_type, size_bytes, sha256, etag, configuration, created_at)
   select e.session_id, e.node_id, row_number() over (), e.id, d.id, 'outputs/' || e.id, 'output-' || e.id, 'text/csv', 8,
          repeat('0', 64), 'bench', '{}', e.at from ended e, data_source d where d.name = 'platform'`,
];

/** Ended runs of the nodes that are there; as fast as rows can be written, without what triggers do for each. */
export async function seedEndedRuns(database: Database, count: number): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    for (const [at, statement] of statements.entries()) await tx.query(statement, at === 0 ? [count] : []);
  });
  for (const table of ['node_run', 'node_attempt', 'node_claim', 'node_output'])
    await database.query(`vacuum analyze ${table}`);
}
