-- As before, with the inputs found by the index of their node: the end of each run read every output there was.
create or replace function run_lineage(wanted uuid, wanted_attempt integer) returns jsonb language sql stable as $$
  with task as (
    select r.id, r.upper_position, r.input_ids, r.node_instance_id, n.parent_ids, t.incremental, c.lower_position,
           case when t.incremental then coalesce(r.reprocess_position, n.watermark_position) else r.upper_position end
             as end_position,
           c.holder, c.instance_id, t.name as template_name, t.runner_type, f.name as feature_name,
           f.version as feature_version
      from node_run r join node_instance n on n.id = r.node_instance_id join node_template t on t.id = n.node_template_id
      left join feature f on f.name = t.feature_name
      join lateral (
        select x.*, (select min(y.watermark_position) from node_claim y where y.run_id = r.id) as lower_position
          from node_claim x where x.run_id = r.id and x.attempt = wanted_attempt
         order by x.claimed_at desc limit 1) c on true
     where r.id = wanted
  ), version as (
    select v.*
      from task cross join lateral (
        select x.output_id, x.node_instance_id, x.output_identifier, x.position, x.sha256, x.size_bytes
          from output_version x
         where x.node_instance_id = any (task.parent_ids) and x.position > task.lower_position
           and x.position <= least(task.upper_position, task.end_position)
           and (x.superseded_at_position is null or x.superseded_at_position > task.upper_position)
           and (task.input_ids is null or x.output_id = any (task.input_ids))
           and not exists (
             select from rejected_input j
              where j.node_instance_id = task.node_instance_id and j.output_id = x.output_id and j.run_id = task.id)
         order by x.position limit 1000) v
  ), standing as (
    select v.output_id, v.node_instance_id, v.output_identifier, v.position, v.sha256, v.size_bytes
      from task cross join unnest(task.parent_ids) as p (id)
      join lateral (
        select x.* from output_version x
         where x.node_instance_id = p.id and x.position <= task.lower_position
           and (x.superseded_at_position is null or x.superseded_at_position > task.upper_position)
         order by x.position desc limit 1) v on true
     where task.input_ids is null and not exists (select from version where version.node_instance_id = p.id)
  )
  select jsonb_build_object(
           'nodeTemplate', jsonb_build_object('name', task.template_name, 'runnerType', task.runner_type,
                                              'feature', task.feature_name, 'featureVersion', task.feature_version),
           'runner', jsonb_build_object(
             'kind', case when task.holder like 'token:%' then 'runner' when task.holder like 'user:%' then 'account'
                          else 'built-in' end,
             'instanceId', task.instance_id,
             'label', (select k.label from runner_token k where k.id = case when task.holder like 'token:%'
                                                                               then substr(task.holder, 7)::uuid end),
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
