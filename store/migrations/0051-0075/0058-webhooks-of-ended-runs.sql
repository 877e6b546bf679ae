-- An event of a node tells of a run that has ended, in the transaction of that end. An upload to the node is none: it made
-- events that named an earlier run, and hid the success of a run that was held meanwhile, as the state was that already.
create or replace function webhook_node_ended() returns trigger language plpgsql as $$
declare
  run uuid;
  facts jsonb;
begin
  if not exists (select from webhook where enabled) then
    return null;
  end if;
  -- Of the last thousand, as only runs that are retried after a later reprocess of chosen inputs stand between. A row that
  -- this transaction wrote has its id.
  select newest.id into run
    from (select r.id, r.ended_at, r.xmin as writer from node_run r
           where r.node_instance_id = new.id order by r.created_at desc limit 1000) newest
   where newest.ended_at is not null and newest.writer = pg_current_xact_id()::xid
   order by newest.ended_at desc limit 1;
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

create or replace trigger webhook_node_ended after update of state on node_instance
  for each row when (new.state in (2, 3)) execute function webhook_node_ended();
