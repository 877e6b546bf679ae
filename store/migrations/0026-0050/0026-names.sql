-- Tables and columns get the field's names. Processes of the version before do not know them: docs/operations/upgrade.md
-- says that they are to be stopped before. The migration changes no row, so it takes as long for many rows as for few.
alter table session rename column wanted_seq to desired_version;
alter table session rename column advanced_seq to observed_version;
alter table session rename column wanted_at to dirty_since;
alter table session rename column window_wanted_at to window_dirty_since;
alter table session rename column next_look_at to next_reconcile_at;
alter table session rename column fair_rank to queue_time;
alter table node_run rename column fair_rank to queue_time;
alter table node_run rename column replay_position to reprocess_position;
alter table node_run rename column replay_output_id to reprocess_output_id;
alter table node_run rename column unnamed_from to generated_name_start;
alter table node_claim rename column unnamed_outputs to generated_name_count;
alter table node_instance rename column follow_up_replay_position to follow_up_reprocess_position;
alter table node_instance rename column follow_up_replay_output_id to follow_up_reprocess_output_id;
alter table object_deletion rename column wanted_at to requested_at;
alter table session_ending rename column wanted_at to requested_at;
alter table pending_object rename column beat_at to heartbeat_at;
alter table platform_alive rename column beat_at to heartbeat_at;
alter table platform_alive rename to platform_process;
alter table session_card rename to session_search;
alter table session_tally rename to session_count;
alter table session_user_entry rename to session_member;

create function pg_temp.renamed(text) returns text language sql as $$
  select replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace($1,
    'session_card', 'session_search'), 'session_tally', 'session_count'), 'session_user_entry', 'session_member'),
    'platform_alive', 'platform_process'), 'fair_rank', 'queue_time'), 'wanted_seq', 'desired_version'),
    'advanced_seq', 'observed_version'), 'session_wanted', 'session_dirty'),
    'session_window_wanted', 'session_window_dirty'), 'pending_object_beat', 'pending_object_heartbeat'),
    'replay_position', 'reprocess_position'), 'replay_output_id', 'reprocess_output_id')
$$;

-- What hangs on them: the bodies and names of functions, and the names of indexes, constraints and triggers. A body may
-- name a function that is renamed after it.
set local check_function_bodies = off;
do $$
declare
  each record;
begin
  for each in
    select p.oid::regprocedure as signature, p.proname as name, pg_get_functiondef(p.oid) as definition
      from pg_proc p
     where p.pronamespace = 'public'::regnamespace and p.prokind = 'f'
       and pg_temp.renamed(p.prosrc || p.proname) <> p.prosrc || p.proname
       and not exists (select 1 from pg_depend d where d.objid = p.oid and d.deptype = 'e')
  loop
    if pg_temp.renamed(each.name) <> each.name then
      execute format('alter function %s rename to %I', each.signature, pg_temp.renamed(each.name));
    end if;
    execute pg_temp.renamed(each.definition);
  end loop;
  for each in
    select conrelid::regclass as relation, conname as name from pg_constraint
     where connamespace = 'public'::regnamespace and conrelid <> 0 and pg_temp.renamed(conname) <> conname
  loop
    execute format('alter table %s rename constraint %I to %I', each.relation, each.name, pg_temp.renamed(each.name));
  end loop;
  for each in
    select oid::regclass as relation, relname as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('i', 'S') and pg_temp.renamed(relname) <> relname
  loop
    execute format('alter index %s rename to %I', each.relation, pg_temp.renamed(each.name));
  end loop;
  for each in
    select tgrelid::regclass as relation, tgname as name from pg_trigger
     where not tgisinternal and pg_temp.renamed(tgname) <> tgname
  loop
    execute format('alter trigger %I on %s rename to %I', each.name, each.relation, pg_temp.renamed(each.name));
  end loop;
end
$$;
