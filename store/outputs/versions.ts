/**
 * Versions of outputs whose bytes an upload has replaced: kept while an open run reads them (decisions, section 8), and
 * those that a failed run has read for a while longer, so that the failure can be replayed.
 */
import { limits } from '../../domain/limits.ts';
import type { Queryable } from '../connection/database.ts';

const sweepBatch = 500;

/**
 * Removes versions that no such run can read any more; their objects go to the queue of deletions, where each stays
 * until nothing else refers to it. Does one batch; call it again while it does something.
 * @param options `olderThanSeconds`: longer than a statement may take, because a claim in progress fixes its upper
 *   bound from what it saw at its beginning
 * @returns the number of versions removed
 */
export async function sweepSupersededOutputs(
  database: Queryable,
  options: { readonly olderThanSeconds: number },
): Promise<number> {
  const rows = await database.query(
    `with gone as (
       delete from node_output_superseded v
        where (v.output_id, v.position) in (
          select old.output_id, old.position from node_output_superseded old
           where old.superseded_at <= statement_timestamp() - make_interval(secs => $1)
             and not exists (
               select 1 from node_instance n join node_run r on r.node_instance_id = n.id
                where n.session_id = old.session_id
                  and (r.state <> 'done'
                       or r.outcome in ('failed', 'cancelled')
                          and r.ended_at > clock_timestamp() - make_interval(days => ${limits.failedRunInputsKeptDays}))
                  and old.node_instance_id = any (n.parent_ids)
                  and r.upper_position >= old.position and r.upper_position < old.superseded_at_position)
           order by old.superseded_at limit ${sweepBatch})
       returning v.data_source_id, v.object_key
     )
     insert into object_deletion (data_source_id, object_key)
     select data_source_id, object_key from gone returning 1`,
    [options.olderThanSeconds],
  );
  return rows.length;
}
