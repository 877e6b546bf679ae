-- A claim that arrives for one template (registerAndClaim).
with pick as materialized (
  select r.id from node_run r
  where r.state = 'queued' and not r.frozen and r.template_name = $5 and not exists (select from template_limit l where l.template_name = $5) and not
  exists (select 1 from node_claim c where c.holder = $1 and c.instance_id = $2 and c.ended_at is null)
  order by coalesce(r.claim_time, r.queue_time) limit 1 for update skip locked),
instance as materialized (
  insert into runner_instance (holder, instance_id, claim_seq, templates, version)
  values ($1, $2, 1, $6::text[], $7::text)
  on conflict (holder, instance_id)
  do update set claim_seq = runner_instance.claim_seq + 1, last_seen_at = clock_timestamp(), signed_off_at = null,
  templates = excluded.templates, version = coalesce(excluded.version, runner_instance.version)
  returning claim_seq, drained, version),
replay as materialized (
  select start.position, start.output_id
  from pick join node_run r on r.id = pick.id cross join lateral reprocess_start(r.id) start
  where r.reason = 'reprocess' and r.reprocess_position is null),
run as (
  update node_run r
  set state = 'held', due_at = null,
  upper_position = coalesce(r.upper_position, (
      select coalesce(max(p.newest_position), 0) from node_instance p where p.id = any (n.parent_ids))),
  configuration_revision = coalesce(r.configuration_revision, n.configuration_revision),
  reprocess_position = coalesce(r.reprocess_position, (select position from replay)),
  reprocess_output_id = coalesce(r.reprocess_output_id, (select output_id from replay))
  from pick, instance, node_instance n, node_template t, session s
  where r.id = pick.id and n.id = r.node_instance_id and t.id = n.node_template_id and s.id = r.session_id
  and not instance.drained and
  (not $1 like 'token:%'
    or exists (select from runner_token k where k.id = case when $1 like 'token:%' then substr($1, 7)::uuid end
      and k.revoked_at is null and k.expires_at > clock_timestamp()))
  -- Else the statement's snapshot is older than the run's configuration, and a later claim gets the run.
  and coalesce(r.configuration_revision, 1) <= n.configuration_revision
  returning
  r.id, r.attempt, r.max_attempts, r.reason, r.template_name, r.runner_type, r.traceparent, r.upper_position, r.input_ids,
  case when r.configuration_revision <> n.configuration_revision
  then (select k.configuration from node_configuration k
    where k.node_instance_id = n.id and k.revision = r.configuration_revision)
  else n.configuration end as configuration, r.session_id, s.name as session_name, s.project_id,
  n.id as node_instance_id, n.name as node_name, n.parent_ids, t.incremental, t.timeout_seconds, r.generated_name_start, coalesce(t.lease_seconds, $4) as lease_seconds, instance.version,
  coalesce(r.reprocess_position, n.watermark_position) as watermark_position,
  case when r.reprocess_position is null then n.watermark_output_id else r.reprocess_output_id end
  as watermark_output_id
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
  clock_timestamp() + make_interval(secs => run.lease_seconds), clock_timestamp() + make_interval(secs => run.timeout_seconds),
  run.watermark_position, run.watermark_output_id,
  (select count(*) from output_version v
    where v.node_instance_id = any (run.parent_ids) and v.position > run.watermark_position
    and v.position <= run.upper_position
    and (v.superseded_at_position is null or v.superseded_at_position > run.upper_position)
    and (run.input_ids is null or v.output_id = any (run.input_ids))),
  run.generated_name_start, run.version, run.incremental
  from run
  returning task_id, claimed_at, lease_until, lease_seconds, watermark_position, watermark_output_id, pending_inputs,
  redelivered
)
select instance.claim_seq, instance.drained,
exists (select 1 from node_claim c where c.holder = $1 and c.instance_id = $2 and c.ended_at is null) as holds_task, task.*
from instance left join lateral (select
  claim.task_id, run.id as run_id, run.attempt, run.max_attempts, run.reason,
  run.project_id, run.session_id, run.session_name, run.node_instance_id,
  run.node_name, run.template_name as node_template, run.runner_type, run.configuration,
  coalesce((select json_agg(json_build_object('nodeInstanceId', p.id, 'name', p.name) order by p.ordinal)
      from node_instance p where p.id = any (run.parent_ids)), '[]') as parents,
  claim.claimed_at, claim.lease_until as lease_expires_at, claim.lease_seconds,
  run.traceparent, attempt.waited_seconds,
  run.incremental, run.timeout_seconds, claim.watermark_output_id,
  claim.watermark_position, run.upper_position, claim.redelivered, claim.pending_inputs as pending_inputs from run join claim on true left join attempt on true) task on true;

-- A claim that has arrived (claimNext).
with pick as materialized (
  select r.id from node_run r
  where r.state = 'queued' and not r.frozen and r.template_name = $6 and not exists (select from template_limit l where l.template_name = $6)
  order by coalesce(r.claim_time, r.queue_time) limit 1 for update skip locked),
instance as materialized (
  select i.drained, i.version from runner_instance i, pick
  where i.holder = $1 and i.instance_id = $2 and ($5::bigint is null or i.claim_seq = $5) for update of i),
replay as materialized (
  select start.position, start.output_id
  from pick join node_run r on r.id = pick.id cross join lateral reprocess_start(r.id) start
  where r.reason = 'reprocess' and r.reprocess_position is null),
run as (
  update node_run r
  set state = 'held', due_at = null,
  upper_position = coalesce(r.upper_position, (
      select coalesce(max(p.newest_position), 0) from node_instance p where p.id = any (n.parent_ids))),
  configuration_revision = coalesce(r.configuration_revision, n.configuration_revision),
  reprocess_position = coalesce(r.reprocess_position, (select position from replay)),
  reprocess_output_id = coalesce(r.reprocess_output_id, (select output_id from replay))
  from pick, instance, node_instance n, node_template t, session s
  where r.id = pick.id and n.id = r.node_instance_id and t.id = n.node_template_id and s.id = r.session_id
  and not instance.drained and
  (not $1 like 'token:%'
    or exists (select from runner_token k where k.id = case when $1 like 'token:%' then substr($1, 7)::uuid end
      and k.revoked_at is null and k.expires_at > clock_timestamp()))
  -- Else the statement's snapshot is older than the run's configuration, and a later claim gets the run.
  and coalesce(r.configuration_revision, 1) <= n.configuration_revision
  returning
  r.id, r.attempt, r.max_attempts, r.reason, r.template_name, r.runner_type, r.traceparent, r.upper_position, r.input_ids,
  case when r.configuration_revision <> n.configuration_revision
  then (select k.configuration from node_configuration k
    where k.node_instance_id = n.id and k.revision = r.configuration_revision)
  else n.configuration end as configuration, r.session_id, s.name as session_name, s.project_id,
  n.id as node_instance_id, n.name as node_name, n.parent_ids, t.incremental, t.timeout_seconds, r.generated_name_start, coalesce(t.lease_seconds, $4) as lease_seconds, instance.version,
  coalesce(r.reprocess_position, n.watermark_position) as watermark_position,
  case when r.reprocess_position is null then n.watermark_output_id else r.reprocess_output_id end
  as watermark_output_id
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
  clock_timestamp() + make_interval(secs => run.lease_seconds), clock_timestamp() + make_interval(secs => run.timeout_seconds),
  run.watermark_position, run.watermark_output_id,
  (select count(*) from output_version v
    where v.node_instance_id = any (run.parent_ids) and v.position > run.watermark_position
    and v.position <= run.upper_position
    and (v.superseded_at_position is null or v.superseded_at_position > run.upper_position)
    and (run.input_ids is null or v.output_id = any (run.input_ids))),
  run.generated_name_start, run.version, run.incremental
  from run
  returning task_id, claimed_at, lease_until, lease_seconds, watermark_position, watermark_output_id, pending_inputs,
  redelivered
) select
claim.task_id, run.id as run_id, run.attempt, run.max_attempts, run.reason,
run.project_id, run.session_id, run.session_name, run.node_instance_id,
run.node_name, run.template_name as node_template, run.runner_type, run.configuration,
coalesce((select json_agg(json_build_object('nodeInstanceId', p.id, 'name', p.name) order by p.ordinal)
    from node_instance p where p.id = any (run.parent_ids)), '[]') as parents,
claim.claimed_at, claim.lease_until as lease_expires_at, claim.lease_seconds,
run.traceparent, attempt.waited_seconds,
run.incremental, run.timeout_seconds, claim.watermark_output_id,
claim.watermark_position, run.upper_position, claim.redelivered, claim.pending_inputs as pending_inputs from run join claim on true left join attempt on true;

-- The same under limits, whose locks it holds.
with
applied as materialized (
  select * from template_limit where template_name = $6
), held as materialized (
  select l.kind, h.session_id, s.project_id
  from applied l
  join node_template counted
  on case l.kind when 'nodeTemplate' then counted.name = l.name else counted.runner_type = l.name end
  join node_run h on h.state = 'held' and h.template_name = counted.name
  join session s on s.id = h.session_id
), free as (
  select where not exists (
    select from applied l where l.max <= (select count(*) from held h where h.kind = l.kind))
), full_project as (
  select h.project_id from applied l join held h on h.kind = l.kind
  group by l.kind, l.per_project, h.project_id having count(*) >= l.per_project
), full_session as (
  select h.session_id from applied l join held h on h.kind = l.kind
  group by l.kind, l.per_session, h.session_id having count(*) >= l.per_session
), pick as materialized (
  select next.id from (
    select next.id from (
      (
        select r.id from (
          select r.id, r.session_id, coalesce(r.claim_time, r.queue_time) as place from node_run r
          where r.state = 'queued' and not r.frozen and r.template_name = $6
          order by coalesce(r.claim_time, r.queue_time) limit 1000) next
        cross join lateral (
          select s.id from session s
          where s.id = next.session_id and s.project_id not in (select project_id from full_project)
          and s.id not in (select session_id from full_session) offset 0) open
        cross join lateral (
          select r.id from node_run r where r.id = next.id and r.session_id = open.id and r.state = 'queued' and not r.frozen
          for update skip locked) r
        order by next.place limit 1)
      union all
      (select first.id from (
          with recursive head as (
            (
              select coalesce(r.project_id, 0) as project_id, coalesce(r.claim_time, r.queue_time) as place from node_run r
              where r.state = 'queued' and not r.frozen and r.template_name = $6
              order by coalesce(r.project_id, 0), coalesce(r.claim_time, r.queue_time) limit 1)
            union all
            select later.* from head cross join lateral (
              select coalesce(r.project_id, 0) as project_id, coalesce(r.claim_time, r.queue_time) as place from node_run r
              where r.state = 'queued' and not r.frozen and r.template_name = $6 and coalesce(r.project_id, 0) > head.project_id
              order by coalesce(r.project_id, 0), coalesce(r.claim_time, r.queue_time) limit 1) later
          )
          select project_id, place from head where project_id not in (select project_id from full_project)
          order by place) project
        cross join lateral (
          select r.id from (
            select r.id, r.session_id, coalesce(r.claim_time, r.queue_time) as place from node_run r
            where r.state = 'queued' and not r.frozen and r.template_name = $6 and coalesce(r.project_id, 0) = project.project_id
            order by coalesce(r.claim_time, r.queue_time) limit 10000) next
          cross join lateral (
            select s.id from session s
            where s.id = next.session_id and s.project_id not in (select project_id from full_project)
            and s.id not in (select session_id from full_session) offset 0) open
          cross join lateral (
            select r.id from node_run r where r.id = next.id and r.session_id = open.id and r.state = 'queued' and not r.frozen
            for update skip locked) r
          order by next.place limit 1) first
        order by project.place limit 1)
    ) next limit 1) next where exists (select from free)),
instance as materialized (
  select i.drained, i.version from runner_instance i, pick
  where i.holder = $1 and i.instance_id = $2 and ($5::bigint is null or i.claim_seq = $5) for update of i),
replay as materialized (
  select start.position, start.output_id
  from pick join node_run r on r.id = pick.id cross join lateral reprocess_start(r.id) start
  where r.reason = 'reprocess' and r.reprocess_position is null),
run as (
  update node_run r
  set state = 'held', due_at = null, limited = true,
  upper_position = coalesce(r.upper_position, (
      select coalesce(max(p.newest_position), 0) from node_instance p where p.id = any (n.parent_ids))),
  configuration_revision = coalesce(r.configuration_revision, n.configuration_revision),
  reprocess_position = coalesce(r.reprocess_position, (select position from replay)),
  reprocess_output_id = coalesce(r.reprocess_output_id, (select output_id from replay))
  from pick, instance, node_instance n, node_template t, session s
  where r.id = pick.id and n.id = r.node_instance_id and t.id = n.node_template_id and s.id = r.session_id
  and not instance.drained and
  (not $1 like 'token:%'
    or exists (select from runner_token k where k.id = case when $1 like 'token:%' then substr($1, 7)::uuid end
      and k.revoked_at is null and k.expires_at > clock_timestamp()))
  -- Else the statement's snapshot is older than the run's configuration, and a later claim gets the run.
  and coalesce(r.configuration_revision, 1) <= n.configuration_revision
  returning
  r.id, r.attempt, r.max_attempts, r.reason, r.template_name, r.runner_type, r.traceparent, r.upper_position, r.input_ids,
  case when r.configuration_revision <> n.configuration_revision
  then (select k.configuration from node_configuration k
    where k.node_instance_id = n.id and k.revision = r.configuration_revision)
  else n.configuration end as configuration, r.session_id, s.name as session_name, s.project_id,
  n.id as node_instance_id, n.name as node_name, n.parent_ids, t.incremental, t.timeout_seconds, r.generated_name_start, coalesce(t.lease_seconds, $4) as lease_seconds, instance.version,
  coalesce(r.reprocess_position, n.watermark_position) as watermark_position,
  case when r.reprocess_position is null then n.watermark_output_id else r.reprocess_output_id end
  as watermark_output_id
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
  clock_timestamp() + make_interval(secs => run.lease_seconds), clock_timestamp() + make_interval(secs => run.timeout_seconds),
  run.watermark_position, run.watermark_output_id,
  (select count(*) from output_version v
    where v.node_instance_id = any (run.parent_ids) and v.position > run.watermark_position
    and v.position <= run.upper_position
    and (v.superseded_at_position is null or v.superseded_at_position > run.upper_position)
    and (run.input_ids is null or v.output_id = any (run.input_ids))),
  run.generated_name_start, run.version, run.incremental
  from run
  returning task_id, claimed_at, lease_until, lease_seconds, watermark_position, watermark_output_id, pending_inputs,
  redelivered
) select
claim.task_id, run.id as run_id, run.attempt, run.max_attempts, run.reason,
run.project_id, run.session_id, run.session_name, run.node_instance_id,
run.node_name, run.template_name as node_template, run.runner_type, run.configuration,
coalesce((select json_agg(json_build_object('nodeInstanceId', p.id, 'name', p.name) order by p.ordinal)
    from node_instance p where p.id = any (run.parent_ids)), '[]') as parents,
claim.claimed_at, claim.lease_until as lease_expires_at, claim.lease_seconds,
run.traceparent, attempt.waited_seconds,
run.incremental, run.timeout_seconds, claim.watermark_output_id,
claim.watermark_position, run.upper_position, claim.redelivered, claim.pending_inputs as pending_inputs from run join claim on true left join attempt on true;

-- The claim of one attempt, for a built-in node (claimRun).
with pick as materialized (
  select r.id from node_run r where r.state = 'queued' and not r.frozen and r.id = $6::uuid and r.attempt = $7
  for update skip locked),
instance as materialized (
  select i.drained, i.version from runner_instance i, pick
  where i.holder = $1 and i.instance_id = $2 and ($5::bigint is null or i.claim_seq = $5) for update of i),
replay as materialized (
  select start.position, start.output_id
  from pick join node_run r on r.id = pick.id cross join lateral reprocess_start(r.id) start
  where r.reason = 'reprocess' and r.reprocess_position is null),
run as (
  update node_run r
  set state = 'held', due_at = null,
  upper_position = coalesce(r.upper_position, (
      select coalesce(max(p.newest_position), 0) from node_instance p where p.id = any (n.parent_ids))),
  configuration_revision = coalesce(r.configuration_revision, n.configuration_revision),
  reprocess_position = coalesce(r.reprocess_position, (select position from replay)),
  reprocess_output_id = coalesce(r.reprocess_output_id, (select output_id from replay))
  from pick, instance, node_instance n, node_template t, session s
  where r.id = pick.id and n.id = r.node_instance_id and t.id = n.node_template_id and s.id = r.session_id
  and not instance.drained and
  (not $1 like 'token:%'
    or exists (select from runner_token k where k.id = case when $1 like 'token:%' then substr($1, 7)::uuid end
      and k.revoked_at is null and k.expires_at > clock_timestamp()))
  -- Else the statement's snapshot is older than the run's configuration, and a later claim gets the run.
  and coalesce(r.configuration_revision, 1) <= n.configuration_revision
  returning
  r.id, r.attempt, r.max_attempts, r.reason, r.template_name, r.runner_type, r.traceparent, r.upper_position, r.input_ids,
  case when r.configuration_revision <> n.configuration_revision
  then (select k.configuration from node_configuration k
    where k.node_instance_id = n.id and k.revision = r.configuration_revision)
  else n.configuration end as configuration, r.session_id, s.name as session_name, s.project_id,
  n.id as node_instance_id, n.name as node_name, n.parent_ids, t.incremental, t.timeout_seconds, r.generated_name_start, coalesce(t.lease_seconds, $4) as lease_seconds, instance.version,
  coalesce(r.reprocess_position, n.watermark_position) as watermark_position,
  case when r.reprocess_position is null then n.watermark_output_id else r.reprocess_output_id end
  as watermark_output_id
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
  clock_timestamp() + make_interval(secs => run.lease_seconds), clock_timestamp() + make_interval(secs => run.timeout_seconds),
  run.watermark_position, run.watermark_output_id,
  (select count(*) from output_version v
    where v.node_instance_id = any (run.parent_ids) and v.position > run.watermark_position
    and v.position <= run.upper_position
    and (v.superseded_at_position is null or v.superseded_at_position > run.upper_position)
    and (run.input_ids is null or v.output_id = any (run.input_ids))),
  run.generated_name_start, run.version, run.incremental
  from run
  returning task_id, claimed_at, lease_until, lease_seconds, watermark_position, watermark_output_id, pending_inputs,
  redelivered
) select
claim.task_id, run.id as run_id, run.attempt, run.max_attempts, run.reason,
run.project_id, run.session_id, run.session_name, run.node_instance_id,
run.node_name, run.template_name as node_template, run.runner_type, run.configuration,
coalesce((select json_agg(json_build_object('nodeInstanceId', p.id, 'name', p.name) order by p.ordinal)
    from node_instance p where p.id = any (run.parent_ids)), '[]') as parents,
claim.claimed_at, claim.lease_until as lease_expires_at, claim.lease_seconds,
run.traceparent, attempt.waited_seconds,
run.incremental, run.timeout_seconds, claim.watermark_output_id,
claim.watermark_position, run.upper_position, claim.redelivered, claim.pending_inputs as pending_inputs from run join claim on true left join attempt on true;
