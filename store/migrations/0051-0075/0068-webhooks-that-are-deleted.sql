-- A webhook that is deleted while a fact is being written: without the lock the delivery had no webhook any more, so that
-- the call of the fact failed. Taken first, it also makes the deletion of the deliveries wait for those of open transactions.
create or replace function webhook_emit(kind text, of_project bigint, of_session uuid, facts jsonb) returns void
language plpgsql as $$
declare
  hook uuid;
begin
  for hook in
    select w.id from webhook w
     where w.enabled and kind = any (w.events) and (w.project_id is null or w.project_id = of_project)
       for key share of w
  loop
    perform 1 from webhook_delivery d
      where d.webhook_id = hook and d.session_id = of_session and d.state = 'pending'
      order by d.position desc limit 1 for share;
    insert into webhook_delivery (webhook_id, type, data, session_id, due_at)
    values (hook, kind, facts, of_session, case when found then null else clock_timestamp() end);
    perform pg_notify('webhook_due', hook::text);
  end loop;
end $$;
