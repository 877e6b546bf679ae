-- Where the own watermark of a reprocess run begins, which its first claim asks. As a part of the claim's statement each
-- claim prepared it, though few claims begin a reprocess.
create function reprocess_start(wanted uuid, out "position" bigint, out output_id bigint)
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
      select min(v.position) as position
        from output_version v
        -- The last output of the same node within the bound.
        join lateral (
          select x.run_id, x.position, x.created_at from output_version x
           where x.node_instance_id = v.node_instance_id and x.position <= bound.upper
             and (x.superseded_at_position is null or x.superseded_at_position > bound.upper)
           order by x.position desc limit 1) newest on true
       where v.node_instance_id = any (n.parent_ids) and v.position <= bound.upper
         and (v.superseded_at_position is null or v.superseded_at_position > bound.upper)
         and case when r.input_ids is not null then v.output_id = any (r.input_ids)
                  else t.reprocess = 'all' or v.position = newest.position
                       or (v.run_id = newest.run_id and v.created_at = newest.created_at) end) first
    left join lateral (
      select v.position, v.output_id from output_version v
       where v.node_instance_id = any (n.parent_ids) and v.position < first.position
         and (v.superseded_at_position is null or v.superseded_at_position > bound.upper)
       order by v.position desc limit 1) before on true
   where r.id = wanted;
end $$;
