/** A long queue, written directly to the database: a hundred thousand uploads would be too slow. */
import { nodeStateCodes } from '../../../domain/runs/node-state.ts';
import type { Database } from '../../../store/connection/database.ts';
import { fairShareMs } from '../../../store/runs/plan-session.ts';

export interface QueueSize {
  readonly sessions: number;
  /** The id of a session template; each of its nodes but the input gets a queued run in each session. */
  readonly templateId: number;
  readonly projectId: number;
  /** Sessions got their uploads at some moment within the last so many seconds. */
  readonly spreadSeconds: number;
}

const { Succeeded, Pending } = nodeStateCodes;

/** @returns how many runs were queued */
export async function queueRuns(database: Database, size: QueueSize): Promise<number> {
  await database.transaction(async (tx) => {
    await tx.query(
      `create temporary table seeded on commit drop as
         select gen_random_uuid() as id, number,
                clock_timestamp() - random() * make_interval(secs => $1) as uploaded_at
           from generate_series(1, $2::int) as number`,
      [size.spreadSeconds, size.sessions],
    );
    // Reconciled far in the future, so that the healer's work for so many sessions is not measured.
    await tx.query(
      `insert into session (id, name, email_identifier, email_key, session_template_id, project_id, user_id,
                            newest_position, checked_at)
       select id, 'Bench ' || number, 'anon:bench', 'anon:bench', $1, $2, gen_random_uuid(), 1, now() + interval '1 day'
         from seeded`,
      [size.templateId, size.projectId],
    );
    await tx.query(
      `insert into node_instance (session_id, ordinal, name, node_template_id, configuration, state, newest_position)
       select s.id, n.ordinal, n.name, n.node_template_id, n.default_configuration,
              case when n.parent_names = '{}' then ${Succeeded} else ${Pending} end,
              case when n.parent_names = '{}' then 1 else 0 end
         from seeded s cross join session_template_node n where n.session_template_id = $1`,
      [size.templateId],
    );
    await tx.query(`create temporary table inputs on commit drop as
      select n.id, n.session_id from node_instance n join seeded s on s.id = n.session_id where n.newest_position = 1`);
    await tx.query(`update node_instance n set parent_ids = array[i.id] from inputs i
      where n.session_id = i.session_id and n.id <> i.id`);
    await tx.query(`update node_instance n
        set child_ids = array(select c.id from node_instance c where c.session_id = n.session_id and c.id <> n.id)
       from inputs i where n.id = i.id`);
    await tx.query(`insert into node_output (session_id, node_instance_id, position, data_source_id, object_key,
                                             output_identifier, size_bytes, etag, configuration)
      select i.session_id, i.id, 1, d.id, 'outputs/' || i.session_id, 'bench', 8, 'bench', '{}'
        from inputs i, data_source d where d.name = 'platform'`);
    await tx.query(
      `insert into node_run (id, session_id, node_instance_id, template_name, runner_type, reason, state, max_attempts,
                             queue_time)
       select gen_random_uuid(), n.session_id, n.id, t.name, t.runner_type, 'input', 'queued', t.max_attempts,
              s.uploaded_at + n.ordinal * make_interval(secs => $1)
         from seeded s join node_instance n on n.session_id = s.id join node_template t on t.id = n.node_template_id
        where n.parent_ids <> '{}' order by random()`,
      [fairShareMs / 1_000],
    );
    await tx.query(`update session s set queue_time = (select max(queue_time) from node_run r where r.session_id = s.id)
      from seeded where seeded.id = s.id`);
    await tx.query(`insert into node_attempt (run_id, number, session_id)
      select r.id, 1, r.session_id from node_run r join seeded s on s.id = r.session_id`);
  });
  await database.query('analyze');
  const [row] = await database.query<{ queued: number }>(
    `select count(*) as queued from node_run where state = 'queued'`,
  );
  return row!.queued;
}
