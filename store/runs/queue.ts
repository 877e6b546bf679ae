/**
 * The queue of runs: how a run gets into it, which of its runs may be claimed, and how waiting claims are notified. A
 * waiting claim holds no connection of its own: one connection per process LISTENs, and polls now and then for missed
 * notifications.
 */
import { systemRunnerType } from '../../domain/runners/manifest-runner-types.ts';
import type { Database, Queryable, Row } from '../connection/database.ts';
import { Listener, type ListenerEvents } from '../connection/listener.ts';
import type { RunnerIdentity } from '../runners/holder.ts';
import { runnerChangedChannel } from '../runners/runner-instances.ts';
import { claimOrder } from './claim-order.ts';

/** The payload is the node template's name. */
const taskReadyChannel = 'task_ready';

/** A run may be claimed. @param run its alias */
export const claimable = (run: string) => `${run}.state = 'queued' and not ${run}.frozen`;
export const isClaimable = claimable('r');

/**
 * For `with`: `queue`, the tasks that wait by node template, and how long the next of each has been claimable. By the
 * index of queued runs. @param limit of templates, those with the most tasks first; null: all
 */
export const queueByTemplate = (limit: number | null = null) => `
  counted as materialized (
    select r.template_name as template, count(*) as tasks from node_run r where ${isClaimable} group by 1
     ${limit === null ? '' : `order by 2 desc limit ${limit}`}
  ), queue as (
    select w.template, w.tasks,
           greatest(0, extract(epoch from clock_timestamp() - head.available_at))::float8 as oldest_seconds
      from counted w cross join lateral (
        select a.available_at from node_run r join node_attempt a on a.run_id = r.id and a.number = r.attempt
         where ${isClaimable} and r.template_name = w.template order by ${claimOrder('r')} limit 1) head
  )`;

/** A run, or a node template, is one of the platform's own. @param of its alias */
export const isBuiltin = (of: string) => `${of}.runner_type = '${systemRunnerType}'`;

/** For `update node_run set`: into the queue at once. */
export const queued = `state = 'queued', due_at = null`;

/** For `update node_run set`: into the queue after a time, or at once. @param seconds an SQL expression, 0 or more */
export const queuedAfter = (seconds: string) => `
  state = case when ${seconds} > 0 then 'waiting' else 'queued' end,
  due_at = case when ${seconds} > 0 then clock_timestamp() + make_interval(secs => ${seconds}) end`;

/** The columns that a step returns for each run `r` that it queues, for {@link notifyReady}. */
export const queuedColumns = 'r.template_name, r.runner_type, r.state';

/**
 * Select this from a step that has queued runs: it notifies the claims that wait for such a task. Built-in runs are
 * started by their session's workflow. PostgreSQL delivers equal notifications of one transaction once.
 */
export const notifyReady = (step: string) => `
  case when ${step}.state = 'queued' and not ${isBuiltin(step)}
       then pg_notify('${taskReadyChannel}', ${step}.template_name) end`;

/** As {@link notifyReady}, for those of the templates `t` that have a task queued. @param where of the templates */
export const notifyTemplates = (where: string) => `
  select pg_notify('${taskReadyChannel}', t.name) from node_template t
   where (${where}) and exists (select from node_run r where ${isClaimable} and r.template_name = t.name)`;

/** The partitions of Temporal's queue run apart by so much under load; a step of priority is more. */
const orderSlackSeconds = 30;
/** Of a backlog that workflows have not handed out, reading all would take a second for each run. */
const earlierRead = 100;

/**
 * Whether a built-in run goes behind others that their workflows have handed out already. One that has waited long does
 * so only while a built-in run is held: a run that never starts must not keep all others waiting.
 * @param templates the built-in node templates
 * @param hasWaited it has let others go first some times
 */
export async function isBehindOthers(
  database: Queryable,
  runId: string,
  templates: readonly string[],
  hasWaited: boolean,
): Promise<boolean> {
  const [row] = await database.query<{ isBehind: boolean }>(
    `select (not $3 or exists (select from node_run h where h.state = 'held' and ${isBuiltin('h')}))
        and exists (
          select from node_run me, unnest($2::text[]) as t (name), lateral (
            select from (
              select r.id, r.attempt from node_run r
               where ${isClaimable} and r.template_name = t.name
                 and ${claimOrder('r')} < ${claimOrder('me')} - make_interval(secs => ${orderSlackSeconds})
               order by ${claimOrder('r')} limit ${earlierRead}) r
              join node_attempt a on a.run_id = r.id and a.number = r.attempt
             where a.awaited limit 1) earlier
           where me.id = $1 and me.state = 'queued') as is_behind`,
    [runId, templates, hasWaited],
  );
  return row!.isBehind;
}

export interface QueueEvents extends ListenerEvents {
  /** A task of this node template was queued, or may have been. */
  ready(template: string): void;
  /** Operators drained or undrained instances. */
  runnersChanged(): void;
}

export function queueListener(database: Database, events: QueueEvents): Listener {
  const channels = { [taskReadyChannel]: events.ready, [runnerChangedChannel]: events.runnersChanged };
  return new Listener(database, channels, events);
}

/** A waiting claim, with its sequence number from arrival. */
export interface WaitingClaim {
  readonly identity: RunnerIdentity;
  readonly claimSeq: number;
}

export interface QueueCheck {
  /** The requested templates that have a task queued. */
  readonly ready: readonly string[];
  /** Places (from 0) of those claims that a newer claim of the same instance has replaced. */
  readonly outdated: readonly number[];
  /** Places of those claims whose instance is drained. */
  readonly drained: readonly number[];
}

const placesOf = (condition: string) => `
  array(
    select w.place - 1
      from unnest($2::text[], $3::text[], $4::bigint[]) with ordinality as w (holder, instance_id, claim_seq, place)
      join runner_instance i on i.holder = w.holder and i.instance_id = w.instance_id
     where ${condition})`;
const checkStatement = `
  select array(
           select t.name from unnest($1::text[]) as t (name)
            where exists (select from node_run r where ${isClaimable} and r.template_name = t.name)) as ready,
         ${placesOf('i.claim_seq > w.claim_seq')} as outdated, ${placesOf('i.drained')} as drained`;

/** What is ready now. */
export async function checkQueue(
  listener: Listener,
  templates: readonly string[],
  waiting: readonly WaitingClaim[],
): Promise<QueueCheck> {
  const [row] = await listener.query<QueueCheck & Row>(checkStatement, [
    templates,
    waiting.map(({ identity }) => identity.holder),
    waiting.map(({ identity }) => identity.instanceId),
    waiting.map(({ claimSeq }) => claimSeq),
  ]);
  return row!;
}
