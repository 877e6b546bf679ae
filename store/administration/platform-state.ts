/** What operators watch over all sessions, in one read for `/metrics`. */
import type { Database } from '../connection/database.ts';
import { claimingInstances, claimsTasksOf } from '../runners/runner-instances.ts';
import { queueByTemplate } from '../runs/queue.ts';
import { dueSinceSql } from '../sessions/forgotten-sessions.ts';
import { deliveryLifetime } from '../webhooks/deliveries.ts';

export interface PlatformState {
  /** Node templates with tasks that could be claimed now, those with the most first. */
  readonly queues: ReadonlyArray<{
    readonly template: string;
    readonly tasks: number;
    /** How long the next task has been claimable. */
    readonly oldestSeconds: number;
    /** Null for a template whose manifest is gone. */
    readonly runnerType: string | null;
    /** Instances that are there and may claim its tasks; null for built-in nodes, which the platform runs itself. */
    readonly runners: number | null;
  }>;
  /** Sessions whose last change their workflow should have reconciled by now, and for how long the longest. */
  readonly sessionsWanted: number;
  readonly wantedOldestSeconds: number;
  /** Uploads of projects with queued ingestion that are not published yet. */
  readonly uploadsQueued: number;
  readonly uploadsOldestSeconds: number;
  /** For how long the oldest delivery of an enabled webhook has been pending. */
  readonly webhookOldestSeconds: number;
}

const maxTemplates = 200;
/** The deliveries of each webhook that are sent next. */
const maxDeliveries = 100;
/** Below the scraper's own time limit, so that no read outlives its scrape. */
const limitMs = 1_500;

/**
 * Each part uses an index: of queued runs by template and rank, of wanted sessions, of queued uploads by id, of due
 * deliveries. Runners are counted for the templates that wait. A frozen session is left out, as the healer leaves it out.
 */
const stateStatement = `
  with ${queueByTemplate(maxTemplates)}, present as materialized (${claimingInstances}), served as (
    select q.*, t.runner_type,
           case when y.runtime <> 'system' then (
             select count(*) from present p
              where p.state in ('waiting', 'busy') and not p.drained
                and ${claimsTasksOf({ template: 't.name', runnerType: 't.runner_type', runtime: 'y.runtime' })}) end as runners
      from queue q left join node_template t on t.name = q.template left join runner_type y on y.name = t.runner_type
  ), wanted as (
    select count(*) as sessions, min(late.since) as since
      from (select ${dueSinceSql} as since from session s
             where s.dirty_since is not null and s.frozen_at is null) late
     where late.since <= clock_timestamp()
  ), uploads as (
    select count(*) as uploads, (select u.queued_at from queued_upload u order by u.id limit 1) as since
      from queued_upload
  ), deliveries as (
    select min(d.expires_at) - ${deliveryLifetime} as since
      from webhook w cross join lateral (
        select d.expires_at from webhook_delivery d
         where d.webhook_id = w.id and d.state = 'pending' and d.due_at is not null
         order by d.due_at limit ${maxDeliveries}) d
     where w.enabled
  )
  select coalesce((
           select json_agg(json_build_object('template', template, 'tasks', tasks, 'oldestSeconds', oldest_seconds,
                                             'runnerType', runner_type, 'runners', runners))
             from served), '[]') as queues,
         wanted.sessions as sessions_wanted,
         greatest(0, coalesce(extract(epoch from clock_timestamp() - wanted.since), 0))::float8 as wanted_oldest_seconds,
         uploads.uploads as uploads_queued,
         greatest(0, coalesce(extract(epoch from clock_timestamp() - uploads.since), 0))::float8 as uploads_oldest_seconds,
         greatest(0, coalesce(extract(epoch from clock_timestamp() - deliveries.since), 0))::float8 as webhook_oldest_seconds
    from wanted, uploads, deliveries`;

/** One read; fails when the database takes longer than one and a half seconds. */
export async function readPlatformState(database: Database): Promise<PlatformState> {
  return database.transaction(async (tx) => {
    void tx.pipelined(`set local statement_timeout = ${limitMs}`);
    const [state] = await tx.query<PlatformState>(stateStatement);
    return state!;
  });
}
