-- A node may have a hundred thousand outputs. The last of them is read from each table by its index: PostgreSQL sorts all
-- outputs of the node where it reads them from the view, and the claim of a reprocess did so for each of them.
create or replace function reprocess_start(wanted uuid, out "position" bigint, out output_id bigint)
returns setof record language plpgsql stable as $$
begin
  return query
  select case when t.incremental and r.input_ids is null and n.watermark_position < before.position
              then n.watermark_position else coalesce(before.position, 0) end,
         case when t.incremental and r.input_ids is null and n.watermark_position < before.position
              then n.watermark_output_id else before.output_id end
    from node_run r
    join node_instance n on n.id = r.node_instance_id
    join node_template t on t.id = n.node_template_id
    cross join lateral (
      select coalesce(r.upper_position, max(p.newest_position), 0) as upper
        from node_instance p where p.id = any (n.parent_ids)) bound
    cross join lateral (
      -- The first of: the chosen inputs; all inputs; of each parent those that it published together last.
      select min(f.position) as position
        from (
          select v.position from output_version v
           where r.input_ids is not null and v.output_id = any (r.input_ids)
             and v.node_instance_id = any (n.parent_ids) and v.position <= bound.upper
             and (v.superseded_at_position is null or v.superseded_at_position > bound.upper)
          union all
          select v.position from output_version v
           where r.input_ids is null and t.reprocess = 'all'
             and v.node_instance_id = any (n.parent_ids) and v.position <= bound.upper
             and (v.superseded_at_position is null or v.superseded_at_position > bound.upper)
          union all
          select coalesce(together.position, newest.position)
            from unnest(n.parent_ids) as p (id)
            cross join lateral (
              (select o.run_id, o.position, o.created_at from node_output o
                where o.node_instance_id = p.id and o.position <= bound.upper order by o.position desc limit 1)
              union all
              (select s.run_id, s.position, s.created_at from node_output_superseded s
                where s.node_instance_id = p.id and s.position <= bound.upper and s.superseded_at_position > bound.upper
                order by s.position desc limit 1)
              order by 2 desc limit 1) newest
            cross join lateral (
              select min(v.position) as position from output_version v
               where v.node_instance_id = p.id and v.position <= newest.position
                 and v.run_id = newest.run_id and v.created_at = newest.created_at
                 and (v.superseded_at_position is null or v.superseded_at_position > bound.upper)) together
           where r.input_ids is null and t.reprocess <> 'all') f) first
    left join lateral (
      select x.position, x.output_id
        from unnest(n.parent_ids) as p (id)
        cross join lateral (
          (select o.position, o.id as output_id from node_output o
            where o.node_instance_id = p.id and o.position < first.position and o.position <= bound.upper
            order by o.position desc limit 1)
          union all
          (select s.position, s.output_id from node_output_superseded s
            where s.node_instance_id = p.id and s.position < first.position and s.superseded_at_position > bound.upper
            order by s.position desc limit 1)) x
       order by x.position desc limit 1) before on true
   where r.id = wanted;
end $$;

-- As before, the last outputs by index too; and also for a run that ends before anyone claims its present attempt: cancelled
-- while it waited for a retry, it got no lineage, though a move of its watermark had published outputs. It has that of its
-- last claim.
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
        (select o.id as output_id, o.node_instance_id, o.output_identifier, o.size_bytes, o.sha256, o.position
           from node_output o
          where o.node_instance_id = p.id and o.position <= task.lower_position order by o.position desc limit 1)
        union all
        (select s.output_id, s.node_instance_id, o.output_identifier, s.size_bytes, s.sha256, s.position
           from node_output_superseded s join node_output o on o.id = s.output_id
          where s.node_instance_id = p.id and s.position <= task.lower_position
            and s.superseded_at_position > task.upper_position
          order by s.position desc limit 1)
        order by position desc limit 1) v on true
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
