/** The statements of a claim, composed of parts; test/store/runs/claim-statements.sql shows them as they are sent. */
import { isTokenHolder, tokenIdOfHolder } from '../runners/holder.ts';
import { isAlive, isOpen, leaseFromNow, prolonged, runWatermark } from '../runners/lease.ts';
import { claimOrder } from './claim-order.ts';
import { isUnderLimit, limitSteps, nextWithRoom } from './concurrency.ts';
import { runConfiguration } from './configuration-check.ts';
import { isClaimable } from './queue.ts';
import { reprocessStart } from './reprocess.ts';

/**
 * @param templates an SQL expression: the requested templates, null for all that it may claim
 * @param version another one: what the runner told of itself, or null
 */
const registerInstance = (templates: string, version: string) => `
  insert into runner_instance (holder, instance_id, claim_seq, templates, version)
  values ($1, $2, 1, ${templates}, ${version})
  on conflict (holder, instance_id)
    do update set claim_seq = runner_instance.claim_seq + 1, last_seen_at = clock_timestamp(), signed_off_at = null,
                  templates = excluded.templates, version = coalesce(excluded.version, runner_instance.version)
  returning claim_seq, drained, version`;
const holdsTask = `
  exists (select 1 from node_claim c where c.holder = $1 and c.instance_id = $2 and ${isOpen})`;

/**
 * What the answer says of a run `r`, its node `n`, the node's template `t` and its session `s`. The step `run` reads it
 * once: a later step that joins them again would cost each claim another tenth of a millisecond.
 */
const taskColumns = `
  r.id, r.attempt, r.max_attempts, r.reason, r.template_name, r.runner_type, r.traceparent, r.upper_position, r.input_ids,
  ${runConfiguration('r')} as configuration, r.session_id, s.name as session_name, s.project_id,
  n.id as node_instance_id, n.name as node_name, n.parent_ids, t.incremental, t.timeout_seconds`;

/** SQL: the inputs of `run` above a watermark. @param position an SQL expression */
const pendingAbove = (position: string) => `
           (select count(*) from output_version v
             where v.node_instance_id = any (run.parent_ids) and v.position > ${position}
               and v.position <= run.upper_position
               and (v.superseded_at_position is null or v.superseded_at_position > run.upper_position)
               and (run.input_ids is null or v.output_id = any (run.input_ids)))`;

const claimColumns = (pendingInputs = 'claim.pending_inputs') => `
  claim.task_id, run.id as run_id, run.attempt, run.max_attempts, run.reason,
  run.project_id, run.session_id, run.session_name, run.node_instance_id,
  run.node_name, run.template_name as node_template, run.runner_type, run.configuration,
  coalesce((select json_agg(json_build_object('nodeInstanceId', p.id, 'name', p.name) order by p.ordinal)
              from node_instance p where p.id = any (run.parent_ids)), '[]') as parents,
  claim.claimed_at, claim.lease_until as lease_expires_at, claim.lease_seconds,
  run.traceparent, attempt.waited_seconds,
  run.incremental, run.timeout_seconds, claim.watermark_output_id,
  claim.watermark_position, run.upper_position, claim.redelivered, ${pendingInputs} as pending_inputs`;

/** A runner token that ended after its caller was identified gets no task. An account is checked before the statement. */
const mayHold = `
  (not ${isTokenHolder('$1')}
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
 * @param instance a statement that locks the instance's row and gives its `drained` and `version`
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
      from pick, instance, node_instance n, node_template t, session s
     where r.id = pick.id and n.id = r.node_instance_id and t.id = n.node_template_id and s.id = r.session_id
       and not instance.drained and ${mayHold}
       -- Else the statement's snapshot is older than the run's configuration, and a later claim gets the run.
       and coalesce(r.configuration_revision, 1) <= n.configuration_revision
    returning ${taskColumns}, r.generated_name_start, coalesce(t.lease_seconds, $4) as lease_seconds, instance.version,
              ${runWatermark}
  ), attempt as (
    update node_attempt a set started_at = coalesce(a.started_at, clock_timestamp())
      from run where a.run_id = run.id and a.number = run.attempt
    returning case when old.started_at is null
                   then extract(epoch from clock_timestamp() - a.available_at)::float8 end as waited_seconds
  ), claim as (
    insert into node_claim (task_id, run_id, attempt, holder, instance_id, claimed_at, lease_seconds, lease_until,
                            timeout_at, watermark_position, watermark_output_id, pending_inputs, generated_name_count,
                            runner_version, incremental)
    select $3::uuid, run.id, run.attempt, $1, $2, clock_timestamp(), run.lease_seconds,
           ${leaseFromNow('run.lease_seconds')}, ${leaseFromNow('run.timeout_seconds')},
           run.watermark_position, run.watermark_output_id, ${pendingAbove('run.watermark_position')},
           run.generated_name_start, run.version, run.incremental
      from run
    returning task_id, claimed_at, lease_until, lease_seconds, watermark_position, watermark_output_id, pending_inputs,
              redelivered
  )`;
}

/** 7. The answer: the task, no row when there is none. */
const claimed = 'from run join claim on true left join attempt on true';

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
  select next.id from (${nextWithRoom(template)}) next where exists (select from free)${condition}`,
  limits: `${limitSteps(template)}, `,
  limited: ' limited = true,',
});

/** $5 claim sequence or null */
function claimStatement(pick: Pick): string {
  const instance = `
    select i.drained, i.version from runner_instance i, pick
     where i.holder = $1 and i.instance_id = $2 and ($5::bigint is null or i.claim_seq = $5) for update of i`;
  return `${claimSteps(pick, instance)} select ${claimColumns()} ${claimed}`;
}

export const claimByTemplate = {
  free: claimStatement(nextUnlimited('$6')),
  limited: claimStatement(nextWithinLimits('$6')),
};
export const claimById = claimStatement({
  pick: `
  select r.id from node_run r where ${isClaimable} and r.id = $6::uuid and r.attempt = $7
   for update skip locked`,
  limits: '',
  limited: '',
});

const registerAndClaimStatement = (pick: Pick) => `
  ${claimSteps(pick, registerInstance('$6::text[]', '$7::text'))}
  select instance.claim_seq, instance.drained, ${holdsTask} as holds_task, task.*
    from instance left join lateral (select ${claimColumns()} ${claimed}) task on true`;
export const registerAndClaimByTemplate = {
  free: registerAndClaimStatement(nextUnlimited('$5', ` and not ${holdsTask}`)),
  limited: registerAndClaimStatement(nextWithinLimits('$5', ` and not ${holdsTask}`)),
};

/** A claim of an earlier version did not count. */
const countedAnyway = `coalesce(claim.pending_inputs, ${pendingAbove('claim.watermark_position')})`;
export const redeliverStatement = `
  with claim as (
    update node_claim c set redelivered = true, ${prolonged}
     where c.holder = $1 and c.instance_id = $2 and ${isAlive} returning c.*
  ), run as (
    select ${taskColumns}
      from claim join node_run r on r.id = claim.run_id join node_instance n on n.id = r.node_instance_id
      join node_template t on t.id = n.node_template_id join session s on s.id = r.session_id
  ), attempt as (
    select null::float8 as waited_seconds
  )
  select ${claimColumns(countedAnyway)} ${claimed}`;

/** $1 holder, $2 instance, $3 templates, $4 version */
export const registerStatement = `${registerInstance('$3::text[]', '$4::text')}, ${holdsTask} as holds_task`;
