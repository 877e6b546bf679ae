-- As before, also for a run that ends before anyone claims its present attempt: cancelled while it waits for a retry, it got
-- no lineage, though a move of its watermark had published outputs. It has the lineage of its last claim.
create or replace function run_lineage(wanted uuid, wanted_attempt integer) returns jsonb language plpgsql stable as $$
declare
  task record;
  fresh jsonb;
  -- The parents that have something new, each as often as it has.
  renewed bigint[];
  standing jsonb := '[]';
begin
  select r.upper_position, r.input_ids, r.node_instance_id, n.parent_ids,
         case when t.incremental then coalesce(r.reprocess_position, n.watermark_position) else r.upper_position end
           as end_position,
         t.name as template_name, t.runner_type, f.name as feature_name, f.version as feature_version,
         (select min(y.watermark_position) from node_claim y where y.run_id = r.id) as lower_position,
         c.holder, c.instance_id, k.label, i.version as runner_version
    into task
    from node_run r join node_instance n on n.id = r.node_instance_id join node_template t on t.id = n.node_template_id
    join lateral (
      select x.holder, x.instance_id from node_claim x where x.run_id = r.id and x.attempt <= wanted_attempt
       order by x.claimed_at desc limit 1) c on true
    left join feature f on f.name = t.feature_name
    left join runner_token k on k.id = case when c.holder like 'token:%' then substr(c.holder, 7)::uuid end
    left join runner_instance i on i.holder = c.holder and i.instance_id = c.instance_id
   where r.id = wanted;
  if not found then
    return null;
  end if;
  select jsonb_agg(jsonb_build_object(
           'outputId', v.output_id, 'nodeInstanceId', v.node_instance_id, 'outputIdentifier', v.output_identifier,
           'sizeBytes', v.size_bytes, 'sha256', v.sha256, 'isNew', true) order by v.position),
         array_agg(v.node_instance_id)
    into fresh, renewed
    from (
      select x.output_id, x.node_instance_id, x.output_identifier, x.position, x.sha256, x.size_bytes
        from output_version x
       where x.node_instance_id = any (task.parent_ids) and x.position > task.lower_position
         and x.position <= least(task.upper_position, task.end_position)
         and (x.superseded_at_position is null or x.superseded_at_position > task.upper_position)
         and (task.input_ids is null or x.output_id = any (task.input_ids))
         and not exists (
           select from rejected_input j
            where j.node_instance_id = task.node_instance_id and j.output_id = x.output_id and j.run_id = wanted)
       order by x.position limit 1000) v;
  if task.input_ids is null and not task.parent_ids <@ coalesce(renewed, '{}') then
    select coalesce(jsonb_agg(jsonb_build_object(
             'outputId', v.output_id, 'nodeInstanceId', v.node_instance_id, 'outputIdentifier', v.output_identifier,
             'sizeBytes', v.size_bytes, 'sha256', v.sha256, 'isNew', false) order by v.position), '[]')
      into standing
      from unnest(task.parent_ids) as p (id)
      join lateral (
        select x.* from output_version x
         where x.node_instance_id = p.id and x.position <= task.lower_position
           and (x.superseded_at_position is null or x.superseded_at_position > task.upper_position)
         order by x.position desc limit 1) v on true
     where p.id <> all (coalesce(renewed, '{}'));
  end if;
  return jsonb_build_object(
    'nodeTemplate', jsonb_build_object('name', task.template_name, 'runnerType', task.runner_type,
                                       'feature', task.feature_name, 'featureVersion', task.feature_version),
    'runner', jsonb_build_object(
      'kind', case when task.holder like 'token:%' then 'runner' when task.holder like 'user:%' then 'account'
                   else 'built-in' end,
      'instanceId', task.instance_id, 'label', task.label, 'version', task.runner_version),
    'inputs', coalesce(fresh, '[]') || standing);
end $$;
