-- An event of a node names the run that ended last. That is not always the one that was made last: a run over all inputs
-- may be retried after a later reprocess of chosen ones. Only such runs stand between the two, so that a look at the
-- thousand that were made last finds it, by the index.
create or replace function webhook_node_ended() returns trigger language plpgsql as $$
declare
  run uuid;
  facts jsonb;
begin
  if not exists (select from webhook where enabled) then
    return null;
  end if;
  select newest.id into run
    from (select r.id, r.ended_at from node_run r
           where r.node_instance_id = new.id order by r.created_at desc limit 1000) newest
   order by newest.ended_at desc nulls last limit 1;
  -- An input node has no runs: its uploads are `output.published`.
  if run is null then
    return null;
  end if;
  facts := webhook_session_facts(new.session_id);
  perform webhook_emit(case new.state when 2 then 'node.failed' else 'node.succeeded' end,
    (facts ->> 'projectId')::bigint, new.session_id,
    facts || jsonb_build_object('nodeInstanceId', new.id, 'nodeName', new.name, 'runId', run,
                                'statusDetails', new.status_details));
  return null;
end $$;
