/**
 * Claiming tasks. A claim is one statement over run, attempt, claim and runner-instance rows, never session or node:
 * `Processing` is derived from the held claim when a node is read.
 */
import { taskClaimed } from '../../telemetry/metrics.ts';
import type { Database, Queryable, Tx } from '../connection/database.ts';
import { failpoint } from '../connection/failpoint.ts';
import { newId } from '../connection/ids.ts';
import { type RunnerIdentity, tokenIdOfHolder } from '../runners/holder.ts';
import { claimOrder } from './claim-order.ts';
import { isUnderLimit, limitSteps, lockLimits, queuedRunsChecked } from './concurrency.ts';
import { runConfiguration } from './configuration-check.ts';
import { isAlive, isOpen, leaseFromNow, prolonged } from './lease.ts';
import { isClaimable } from './queue.ts';
import { reprocessStart } from './reprocess.ts';

/** A task as a claim returns it. Times are `Date`s of the database's clock. */
export interface ClaimedTask {
  readonly taskId: string;
  readonly runId: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly reason: 'input' | 'reprocess' | 'follow-up';
  readonly projectId: number;
  readonly sessionId: string;
  readonly sessionName: string;
  readonly nodeInstanceId: number;
  readonly nodeName: string;
  readonly nodeTemplate: string;
  readonly runnerType: string;
  /** Json-string, as stored. */
  readonly configuration: string;
  readonly parents: ReadonlyArray<{ nodeInstanceId: number; name: string }>;
  readonly claimedAt: Date;
  readonly leaseExpiresAt: Date;
  readonly leaseSeconds: number;
  readonly incremental: boolean;
  readonly timeoutSeconds: number | null;
  readonly watermarkOutputId: number | null;
  readonly watermarkPosition: number;
  readonly upperPosition: number;
  /** Inputs above the watermark, within the upper bound. */
  readonly pendingInputs: number;
  /** The trace in which the run was queued, as a W3C `traceparent`. */
  readonly traceparent: string | null;
  /** Since the attempt could first be claimed; null when it had been held before. */
  readonly waitedSeconds: number | null;
  /** An earlier reply may have delivered it. */
  readonly redelivered: boolean;
}

/** What a claim finds on arrival. */
export interface ClaimTicket {
  /** Newer than that of every earlier claim of the instance. */
  readonly claimSeq: number;
  /** The instance still holds a task, which it releases by claiming again. */
  readonly holdsTask: boolean;
  /** An operator drained the instance: it gets no task. */
  readonly drained: boolean;
}

/** @param templates an SQL expression: the requested templates, null for all that it may claim */
const announce = (templates: string) => `
  insert into runner_instance (holder, instance_id, claim_seq, templates) values ($1, $2, 1, ${templates})
  on conflict (holder, instance_id)
    do update set claim_seq = runner_instance.claim_seq + 1, last_seen_at = clock_timestamp(), signed_off_at = null,
                  templates = excluded.templates
  returning claim_seq, drained`;
const holdsTask = `
  exists (select 1 from node_claim c where c.holder = $1 and c.instance_id = $2 and ${isOpen})`;

/**
 * Registers the instance's newest claim, so that its older waiting claims can no longer win.
 * @param templates the requested templates; null: all that it may claim
 */
export async function registerClaim(
  database: Queryable,
  identity: RunnerIdentity,
  templates: readonly string[] | null = null,
): Promise<ClaimTicket> {
  const [row] = await database.query<ClaimTicket>(`${announce('$3::text[]')}, ${holdsTask} as holds_task`, [
    identity.holder,
    identity.instanceId,
    templates,
  ]);
  return row!;
}

const claimColumns = `
  claim.task_id, run.id as run_id, run.attempt, run.max_attempts, run.reason,
  s.project_id, s.id as session_id, s.name as session_name, n.id as node_instance_id,
  n.name as node_name, run.template_name as node_template, run.runner_type, ${runConfiguration('run')} as configuration,
  coalesce((select json_agg(json_build_object('nodeInstanceId', p.id, 'name', p.name) order by p.ordinal)
              from node_instance p where p.id = any (n.parent_ids)), '[]') as parents,
  claim.claimed_at, claim.lease_until as lease_expires_at, claim.lease_seconds,
  run.traceparent, attempt.waited_seconds,
  t.incremental, t.timeout_seconds, claim.watermark_output_id,
  claim.watermark_position, run.upper_position, claim.redelivered,
  (select count(*) from output_version v
    where v.node_instance_id = any (n.parent_ids) and v.position > claim.watermark_position
      and v.position <= run.upper_position
      and (v.superseded_at_position is null or v.superseded_at_position > run.upper_position)
      and (run.input_ids is null or v.output_id = any (run.input_ids))) as pending_inputs`;

/** A token that ended after its caller was identified gets no task. */
const mayHold = `
  ($1 not like 'token:%'
    or exists (select from runner_token k where k.id = ${tokenIdOfHolder('$1')}
                  and k.revoked_at is null and k.expires_at > clock_timestamp()))`;

/**
 * The steps of a claim, for {@link claimed}; test/store/runs/claim-statements.sql shows them composed.
 *
 * 1. `pick`: one claimable run, the first by claim time; those that other claims have locked are skipped.
 * 2. `instance`: the runner instance, so that its claims come one after the other; a claim that a newer one has replaced
 *    finds none, and gets nothing.
 * 3. `replay`: where the run's own watermark begins, at the first claim of a reprocess run.
 * 4. `run`: held from now on, unless the instance is drained or its token has ended. The first claim fixes the run's
 *    upper bound and configuration. When this step is empty, all later ones are.
 * 5. `attempt`: begins with its first claim, which says how long it waited.
 * 6. `claim`: the lease, and the present watermark.
 *
 * @param pick a `select` of the run's id, locked
 * @param instance a statement that locks the instance's row and gives its `drained`
 * $1 holder, $2 instance, $3 task id, $4 default lease seconds
 */
function claimSteps({ pick, limits, limited }: Pick, instance: string): string {
  return `
  with ${limits}pick as materialized (${pick}),
  instance as materialized (${instance}),
  replay as materialized (${reprocessStart}),
  run as (
    update node_run r
       set state = 'held', due_at = null,${limited}
           upper_position = coalesce(r.upper_position, (
             select coalesce(max(p.newest_position), 0) from node_instance p where p.id = any (n.parent_ids))),
           configuration_revision = coalesce(r.configuration_revision, n.configuration_revision),
           reprocess_position = coalesce(r.reprocess_position, (select position from replay)),
           reprocess_output_id = coalesce(r.reprocess_output_id, (select output_id from replay))
      from pick, instance, node_instance n
     where r.id = pick.id and n.id = r.node_instance_id and not instance.drained and ${mayHold}
       -- Else the statement's snapshot is older than the run's configuration, and a later claim gets the run.
       and coalesce(r.configuration_revision, 1) <= n.configuration_revision
    returning r.*
  ), attempt as (
    update node_attempt a set started_at = coalesce(a.started_at, clock_timestamp())
      from run where a.run_id = run.id and a.number = run.attempt
    returning case when old.started_at is null
                   then extract(epoch from clock_timestamp() - a.available_at)::float8 end as waited_seconds
  ), claim as (
    insert into node_claim (task_id, run_id, attempt, holder, instance_id, claimed_at, lease_seconds, lease_until,
                            timeout_at, watermark_position, watermark_output_id, generated_name_count)
    select $3::uuid, run.id, run.attempt, $1, $2, clock_timestamp(), coalesce(t.lease_seconds, $4),
           ${leaseFromNow('coalesce(t.lease_seconds, $4)')}, ${leaseFromNow('t.timeout_seconds')},
           coalesce(run.reprocess_position, n.watermark_position),
           case when run.reprocess_position is null then n.watermark_output_id else run.reprocess_output_id end,
           run.generated_name_start
      from run join node_instance n on n.id = run.node_instance_id join node_template t on t.id = n.node_template_id
    returning *
  )`;
}

/** 7. The answer: the task, no row when there is none. */
const claimed = `
    from run join claim on true left join attempt on true join node_instance n on n.id = run.node_instance_id
    join node_template t on t.id = n.node_template_id join session s on s.id = run.session_id`;

/** The first step of a claim, with what it needs. */
interface Pick {
  readonly pick: string;
  /** Steps before it. */
  readonly limits: string;
  /** For `set`, a run under a limit. */
  readonly limited: string;
}

/** The next run of a template. @param template an SQL expression @param condition of the run `r`, or empty */
const nextUnlimited = (template: string, condition = ''): Pick => ({
  pick: `
  select r.id from node_run r
   where ${isClaimable} and r.template_name = ${template} and not ${isUnderLimit(template)}${condition}
   order by ${claimOrder('r')} limit 1 for update skip locked`,
  limits: '',
  limited: '',
});

/** The same under limits, whose locks the transaction holds. */
const nextWithinLimits = (template: string, condition = ''): Pick => ({
  pick: `
  select r.id
    from (select q.id, ${claimOrder('q')} as place from node_run q
           where q.state = 'queued' and not q.frozen and q.template_name = ${template}
           order by ${claimOrder('q')} limit ${queuedRunsChecked}) next
    join node_run r on r.id = next.id join session s on s.id = r.session_id
   where exists (select from free) and ${isClaimable}
     and s.project_id not in (select project_id from full_project)
     and s.id not in (select session_id from full_session)${condition}
   order by next.place limit 1 for update of r skip locked`,
  limits: `${limitSteps(template)}, `,
  limited: ' limited = true,',
});

/** $5 claim sequence or null */
function claimStatement(pick: Pick): string {
  const instance = `
    select i.drained from runner_instance i, pick
     where i.holder = $1 and i.instance_id = $2 and ($5::bigint is null or i.claim_seq = $5) for update of i`;
  return `${claimSteps(pick, instance)} select ${claimColumns} ${claimed}`;
}

const claimByTemplate = {
  free: claimStatement(nextUnlimited('$6')),
  limited: claimStatement(nextWithinLimits('$6')),
};
const claimById = claimStatement({
  pick: `
  select r.id from node_run r where ${isClaimable} and r.id = $6::uuid and r.attempt = $7
   for update skip locked`,
  limits: '',
  limited: '',
});

const registerAndClaimStatement = (pick: Pick) => `
  ${claimSteps(pick, announce('$6::text[]'))}
  select instance.claim_seq, instance.drained, ${holdsTask} as holds_task, task.*
    from instance left join lateral (select ${claimColumns} ${claimed}) task on true`;
const registerAndClaimByTemplate = {
  free: registerAndClaimStatement(nextUnlimited('$5', ` and not ${holdsTask}`)),
  limited: registerAndClaimStatement(nextWithinLimits('$5', ` and not ${holdsTask}`)),
};

/** Whether a node template was under a limit lately: a claim without limits finds nothing for one that is. */
type IsLimited = (template: string) => boolean;

/** Runs a claim of one template; under limits it holds their locks until it has committed. */
async function claimOf<R>(
  database: Database | Tx,
  template: { readonly name: string; readonly isLimited: boolean | undefined },
  statements: { readonly free: string; readonly limited: string },
  parameters: readonly unknown[],
): Promise<R[]> {
  if (template.isLimited !== true) return database.query<R>(statements.free, parameters);
  if ('isTransaction' in database) {
    lockLimits(database, template.name);
    return database.query<R>(statements.limited, parameters);
  }
  return database.transaction((tx) => {
    lockLimits(tx, template.name);
    return tx.last<R>(statements.limited, parameters);
  });
}

/**
 * {@link registerClaim} and {@link claimNext} for one template in one statement; an instance that holds a task gets none.
 * @param request `isOpen`: the claim asks for all that it may claim, which is only this template at the moment
 * @throws a unique violation when an older claim of the instance wins at the same time
 */
export async function registerAndClaim(
  database: Database | Tx,
  identity: RunnerIdentity,
  request: { template: string; leaseSeconds: number; isOpen?: boolean; isLimited?: IsLimited },
): Promise<ClaimTicket & { readonly task: ClaimedTask | undefined }> {
  const { template, leaseSeconds } = request;
  const named = { name: template, isLimited: request.isLimited?.(template) };
  const [row] = await claimOf<
    ClaimTicket & { readonly [Name in keyof ClaimedTask]: ClaimedTask[Name] | null }
  >(database, named, registerAndClaimByTemplate, [
    identity.holder,
    identity.instanceId,
    newId(),
    leaseSeconds,
    template,
    request.isOpen === true ? null : [template],
  ]);
  const { claimSeq, holdsTask, drained, ...task } = row!;
  const arrival = { claimSeq, holdsTask, drained };
  if (task.taskId === null) return { ...arrival, task: undefined };
  return { ...arrival, task: await recordClaim(task as ClaimedTask) };
}

/**
 * Claims the next ready task (by claim time) of one of the templates; undefined when there is none, when limits leave no
 * place, when a newer claim of the same instance has arrived, when the instance is drained, or when its token has ended.
 */
export async function claimNext(
  database: Database | Tx,
  identity: RunnerIdentity,
  request: {
    claimSeq: number;
    templates: readonly string[];
    leaseSeconds: number;
    isLimited?: IsLimited;
  },
): Promise<ClaimedTask | undefined> {
  for (const name of await byOldestTask(database, request.templates)) {
    const next = { name, isLimited: request.isLimited?.(name) };
    const [task] = await claimOf<ClaimedTask>(database, next, claimByTemplate, [
      identity.holder,
      identity.instanceId,
      newId(),
      request.leaseSeconds,
      request.claimSeq,
      name,
    ]);
    if (task) return recordClaim(task);
  }
  return undefined;
}

/** Those of the templates that have a ready task, the one with the first by claim time at the front. */
async function byOldestTask(database: Queryable, templates: readonly string[]): Promise<readonly string[]> {
  if (templates.length <= 1) return templates;
  const rows = await database.query<{ name: string }>(
    `select t.name from unnest($1::text[]) as t (name)
       cross join lateral (
         select ${claimOrder('r')} as place from node_run r
          where ${isClaimable} and r.template_name = t.name
          order by ${claimOrder('r')} limit 1) head
      order by head.place`,
    [templates],
  );
  return rows.map((row) => row.name);
}

const redeliverStatement = `
  with claim as (
    update node_claim c set redelivered = true, ${prolonged}
     where c.holder = $1 and c.instance_id = $2 and ${isAlive} returning c.*
  ), run as (
    select r.* from node_run r join claim on r.id = claim.run_id
  ), attempt as (
    select null::float8 as waited_seconds
  )
  select ${claimColumns} ${claimed}`;

/**
 * The task that the instance holds, with a whole lease, for a reply to a repeated call; undefined when it holds none.
 */
export async function redeliverHeld(
  database: Queryable,
  identity: RunnerIdentity,
): Promise<ClaimedTask | undefined> {
  const [task] = await database.query<ClaimedTask>(redeliverStatement, [
    identity.holder,
    identity.instanceId,
  ]);
  return task;
}

/** Claims one attempt of one run for a built-in node's activity; undefined when it is held or ended. */
export async function claimRun(
  database: Queryable,
  identity: RunnerIdentity,
  request: { runId: string; attempt: number; leaseSeconds: number },
): Promise<ClaimedTask | undefined> {
  const { claimSeq } = await registerClaim(database, identity);
  const [task] = await database.query<ClaimedTask>(claimById, [
    identity.holder,
    identity.instanceId,
    newId(),
    request.leaseSeconds,
    claimSeq,
    request.runId,
    request.attempt,
  ]);
  return task && recordClaim(task);
}

/** The claim has committed. */
async function recordClaim(task: ClaimedTask): Promise<ClaimedTask> {
  await failpoint('claimed');
  taskClaimed(task.nodeTemplate, task.waitedSeconds);
  return task;
}
