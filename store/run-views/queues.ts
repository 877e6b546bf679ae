/** What waits for runners, node template by node template, and the runners that are there for it. */
import type { Concurrency, ConcurrencyKind } from '../../domain/runners/concurrency.ts';
import type { Runtime } from '../../domain/runners/manifest-runner-types.ts';
import type { Database } from '../connection/database.ts';
import { claimingInstances, claimsTasksOf, type RunnerState } from '../runners/runner-instances.ts';
import { queueByTemplate } from '../runs/queue.ts';

/** The queue of one node template. */
export interface QueueRow {
  readonly runnerType: string;
  readonly runtime: Runtime;
  readonly nodeTemplate: string;
  readonly waiting: number;
  /** How long the next task has been claimable; null when none waits. */
  readonly oldestWaitSeconds: number | null;
  readonly held: number;
  /** The limits of what is held at once. */
  readonly limits: ReadonlyArray<Concurrency & { readonly kind: ConcurrencyKind; readonly held: number }>;
  /** Instances that may claim its tasks, by their state. */
  readonly runners: Readonly<Record<RunnerState, number>>;
  /** Attempts that ended within the last hour, or since `recentSeconds` ago when there were very many. */
  readonly recentCompleted: number;
  readonly recentFailed: number;
  readonly recentSeconds: number;
}

const hourSeconds = 3_600;
/** Ended attempts beyond this many shorten the time that the rates are taken over. */
const maxRecent = 20_000;
const limitMs = 5_000;

/**
 * 1. `queue`: what waits, by node template.
 * 2. `held`: by the index of held runs.
 * 3. `present`: instances, with the runner types of their tokens; accounts reach all external ones.
 * 4. `recent`: the attempts that ended last, by the index of ended claims.
 */
const statement = `
  with ${queueByTemplate()}, held as (
    select r.template_name as template, count(*) as tasks from node_run r where r.state = 'held' group by 1
  ), present as materialized (${claimingInstances}), ended as materialized (
    select c.run_id, c.ending, c.ended_at from node_claim c
     where c.ended_at > statement_timestamp() - interval '${hourSeconds} seconds' order by c.ended_at desc limit ${maxRecent}
  ), recent as (
    select r.template_name as template, count(*) filter (where e.ending = 'complete') as completed,
           count(*) filter (where e.ending in ('fail', 'lost')) as failed
      from ended e join node_run r on r.id = e.run_id group by 1
  ), span as (
    select case when count(*) < ${maxRecent} then ${hourSeconds}
                else greatest(1, extract(epoch from clock_timestamp() - min(ended_at))) end::float8 as seconds
      from ended
  )
  select t.runner_type, y.runtime, t.name as node_template, coalesce(q.tasks, 0) as waiting,
         q.oldest_seconds as oldest_wait_seconds, coalesce(h.tasks, 0) as held, runners.by_state as runners,
         coalesce((
           select json_agg(json_build_object('kind', l.kind, 'max', l.max, 'perProject', l.per_project,
                    'perSession', l.per_session, 'held', (
                      select coalesce(sum(x.tasks), 0) from held x join node_template xt on xt.name = x.template
                       where case l.kind when 'runnerType' then xt.runner_type = t.runner_type else xt.name = t.name end)))
             from template_limit l where l.template_name = t.name), '[]') as limits,
         coalesce(e.completed, 0) as recent_completed, coalesce(e.failed, 0) as recent_failed,
         span.seconds as recent_seconds
    from node_template t join runner_type y on y.name = t.runner_type cross join span
    left join queue q on q.template = t.name
    left join held h on h.template = t.name left join recent e on e.template = t.name
   cross join lateral (
     select json_build_object(
              'waiting', count(*) filter (where p.state = 'waiting'), 'busy', count(*) filter (where p.state = 'busy'),
              'drained', count(*) filter (where p.state = 'drained'), 'gone', count(*) filter (where p.state = 'gone')
            ) as by_state
       from present p
      where ${claimsTasksOf({ template: 't.name', runnerType: 't.runner_type', runtime: 'y.runtime' })}) runners
   where t.type <> 'Input'
   order by coalesce(q.tasks, 0) > 0 desc, q.oldest_seconds desc nulls last, coalesce(h.tasks, 0) desc, t.runner_type, t.name
   limit $1`;

/** Queues with waiting tasks first, the longest wait first. Fails when the database takes longer than five seconds. */
export async function listQueues(database: Database, limit: number): Promise<QueueRow[]> {
  return database.transaction(async (tx) => {
    void tx.pipelined(`set local statement_timeout = ${limitMs}`);
    return tx.query<QueueRow>(statement, [limit]);
  });
}
