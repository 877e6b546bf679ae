-- What a run's outputs were made from and by whom, written when it completes: outputs, claims and tokens may be
-- replaced or cleaned away later.
alter table node_run add column lineage jsonb;

-- New inputs first in order, at most 1,000 of them, then what the other parents had published last.
create function run_lineage(wanted uuid, wanted_attempt integer) returns jsonb language sql stable as $$
  with task as (
    select r.id, r.upper_position, n.parent_ids, t.incremental, c.watermark_position as lower_position,
           case when t.incremental then coalesce(r.replay_position, n.watermark_position) else r.upper_position end
             as end_position,
           c.holder, c.instance_id, t.name as template_name, t.runner_type, f.name as feature_name,
           f.version as feature_version
      from node_run r join node_instance n on n.id = r.node_instance_id join node_template t on t.id = n.node_template_id
      left join feature f on f.name = t.feature_name
      join lateral (
        select x.* from node_claim x where x.run_id = r.id and x.attempt = wanted_attempt
         order by x.claimed_at desc limit 1) c on true
     where r.id = wanted
  ), version as (
    select v.output_id, v.node_instance_id, v.output_identifier, v.position, v.sha256, v.size_bytes
      from task join output_version v on v.node_instance_id = any (task.parent_ids) and v.position <= task.upper_position
       and (v.superseded_at_position is null or v.superseded_at_position > task.upper_position)
     where v.position > task.lower_position and v.position <= task.end_position
     order by v.position limit 1000
  ), standing as (
    select v.output_id, v.node_instance_id, v.output_identifier, v.position, v.sha256, v.size_bytes
      from task cross join unnest(task.parent_ids) as p (id)
      join lateral (
        select x.* from output_version x
         where x.node_instance_id = p.id and x.position <= task.lower_position
           and (x.superseded_at_position is null or x.superseded_at_position > task.upper_position)
         order by x.position desc limit 1) v on true
     where not exists (select from version where version.node_instance_id = p.id)
  )
  select jsonb_build_object(
           'nodeTemplate', jsonb_build_object('name', task.template_name, 'runnerType', task.runner_type,
                                              'feature', task.feature_name, 'featureVersion', task.feature_version),
           'runner', jsonb_build_object(
             'kind', case when task.holder like 'token:%' then 'runner' when task.holder like 'user:%' then 'account'
                          else 'built-in' end,
             'instanceId', task.instance_id,
             'label', (select k.label from runner_token k where task.holder = 'token:' || k.id),
             'version', (select i.version from runner_instance i
                          where i.holder = task.holder and i.instance_id = task.instance_id)),
           'inputs', coalesce((
             select jsonb_agg(jsonb_build_object(
                      'outputId', x.output_id, 'nodeInstanceId', x.node_instance_id,
                      'outputIdentifier', x.output_identifier, 'sizeBytes', x.size_bytes, 'sha256', x.sha256,
                      'isNew', x.is_new) order by x.is_new desc, x.position)
               from (select *, true as is_new from version union all select *, false from standing) x), '[]'))
    from task
$$;
