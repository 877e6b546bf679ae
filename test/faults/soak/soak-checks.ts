/** Checks of every graph when nothing runs: nothing open, nothing lost, nothing doubled. */
import { nodeStateCodes } from '../../../domain/runs/node-state.ts';
import type { Database } from '../../../store/connection/database.ts';

/** Each query returns a row for every fault when nothing runs. */
const always: Readonly<Record<string, string>> = {
  'a run is open': `select id, state from node_run where state <> 'done'`,
  'an attempt is open': `select run_id, number from node_attempt where ended_at is null`,
  'a claim is open': `select task_id from node_claim where ended_at is null`,
  'an output is staged': `select id from node_output where position is null`,
  'a node wants a run': `select id, name from node_instance where follow_up_wanted or reprocess_wanted`,
  'a session is frozen': `select id from session where frozen_at is not null`,
  'a node has not consumed its inputs': `
    select n.id, n.name, n.consumed_position, max(p.newest_position) as newest
      from node_instance n join node_template t on t.id = n.node_template_id
      join node_instance p on p.id = any (n.parent_ids)
     group by n.id, t.id having n.consumed_position < max(p.newest_position)
       and (t.trigger = 'any' or min(p.newest_position) > 0)`,
  'a node’s newest output is not its newest': `
    select n.id, n.name, n.newest_position, o.id as newest
      from node_instance n left join lateral (
        select id, position from node_output where node_instance_id = n.id order by position desc limit 1) o on true
     where (n.newest_position, n.newest_output_id) is distinct from (coalesce(o.position, 0), o.id)`,
  'a position was given twice': `
    select session_id, position from (
      select session_id, position from node_output union all select session_id, position from node_output_superseded) v
     group by 1, 2 having count(*) > 1`,
  'a session’s counter is not at its newest position': `
    select s.id, s.newest_position, o.newest from session s
      join (select session_id, max(position) as newest from node_output group by 1) o on o.session_id = s.id
     where s.newest_position <> o.newest`,
  'attempts of a run have a gap': `
    select r.id, r.attempt, count(a.number) from node_run r left join node_attempt a on a.run_id = r.id
     group by r.id having count(a.number) <> r.attempt or max(a.number) <> r.attempt`,
  'a run was completed twice': `
    select run_id from node_claim where ending = 'complete' group by 1 having count(*) > 1`,
  'a completed run has no claim that completed it': `
    select r.id from node_run r where r.outcome = 'completed'
       and not exists (select 1 from node_claim c where c.run_id = r.id and c.ending = 'complete')`,
  'a reprocess consumed an input twice': `
    select y.run_id, y.metadata ->> 'of' as of from node_output y join node_run r on r.id = y.run_id
     where r.reprocess_position is not null and y.metadata ? 'of' group by 1, 2 having count(*) > 1`,
};

/** Further checks when the last run of every node succeeded. */
const afterSuccess: Readonly<Record<string, string>> = {
  'a node has not succeeded': `
    select id, name, state, status_details from node_instance where state <> ${nodeStateCodes.Succeeded}`,
  'the watermark of an incremental node is not at its newest input': `
    select n.id, n.name, n.watermark_position, max(p.newest_position) as newest
      from node_instance n join node_template t on t.id = n.node_template_id and t.incremental
      join node_instance p on p.id = any (n.parent_ids)
     group by n.id having n.watermark_position <> max(p.newest_position)`,
  'an input was never consumed in its present version': `
    select x.id, x.node_instance_id, x.position from node_output x
      join node_instance n on x.node_instance_id = any (n.parent_ids)
      join node_template t on t.id = n.node_template_id and t.incremental
     where not exists (select 1 from node_output y where y.node_instance_id = n.id
                         and (y.metadata ->> 'of')::bigint = x.id and y.position > x.position)`,
};

/** The faults, a sentence each; empty when there are none. */
export async function wrongFacts(database: Database, isAllWell: boolean): Promise<string[]> {
  const wrong: string[] = [];
  for (const [sentence, statement] of Object.entries(isAllWell ? { ...always, ...afterSuccess } : always)) {
    const rows = await database.query(statement);
    if (rows.length > 0) wrong.push(`${sentence}: ${rows.length} times, as ${JSON.stringify(rows[0])}`);
  }
  return wrong;
}

/**
 * Inputs that incremental nodes consumed more often than there were versions of them; a reprocess may do so again.
 * @param versionsOf how often the bytes of an output were uploaded, by its identifier, where that was more than once
 * @param sessionIds default: all that there are
 */
export async function consumedTooOften(
  database: Database,
  versionsOf: ReadonlyMap<string, number>,
  sessionIds: readonly string[] | null = null,
): Promise<string[]> {
  const rows = await database.query<{ id: number; identifier: string; node: string; times: number }>(
    `select x.id, x.output_identifier as identifier, n.name as node, count(*) as times
       from node_output y join node_run r on r.id = y.run_id and r.reprocess_position is null
       join node_instance n on n.id = y.node_instance_id join node_output x on x.id = (y.metadata ->> 'of')::bigint
      where $1::uuid[] is null or r.session_id = any ($1::uuid[])
      group by x.id, n.id having count(*) > 1`,
    [sessionIds],
  );
  return rows
    .filter(({ identifier, times }) => times > (versionsOf.get(identifier) ?? 1))
    .map(({ id, node, times }) => `input ${id} was consumed ${times} times by ${node}`);
}

/** Whether all work is finished: no run is open or wanted, and every session's workflow has reconciled. */
export async function isQuiet(database: Database): Promise<boolean> {
  const [row] = await database.query<{ busy: number }>(
    `select (select count(*) from node_run where state <> 'done')
          + (select count(*) from node_instance where follow_up_wanted or reprocess_wanted)
          + (select count(*) from session where desired_version <> observed_version) as busy`,
  );
  return row!.busy === 0;
}
