-- What lists ask of a session beside what describes it: whether it has begun, whether one of its nodes is Failed, and
-- when something last happened in it. It is a table of its own because `session` and `node_instance` change with every
-- run and keep what changes out of their indexes. Triggers write it under the session's lock, so processes of the version
-- before keep it right too. A run that ends well writes nothing here, or the time alone.
create table session_activity (
  session_id uuid primary key references session (id) on delete cascade,
  -- Something was published.
  started boolean not null default false,
  -- A node is Failed.
  failed boolean not null default false,
  -- When something was last published, queued or ended, or the session was frozen or closed: to ten seconds.
  last_at timestamptz not null
) with (fillfactor = 70);
create index session_activity_failed on session_activity (session_id) where failed;
create index session_activity_not_started on session_activity (session_id) where not started;
create index session_activity_by_time on session_activity (last_at desc);

create function session_activity_made() returns trigger language plpgsql as $$
begin
  insert into session_activity (session_id, started, last_at)
  select id, newest_position > 0, created_at from made_rows on conflict (session_id) do nothing;
  return null;
end $$;

create function session_activity_moved() returns trigger language plpgsql as $$
begin
  if old.newest_position = 0 and new.newest_position > 0 then
    insert into session_activity (session_id, started, last_at) values (new.id, true, clock_timestamp())
    on conflict (session_id) do update set started = true, last_at = excluded.last_at;
  else
    update session_activity set last_at = clock_timestamp()
     where session_id = new.id and last_at < clock_timestamp() - interval '10 seconds';
  end if;
  return null;
end $$;

create function session_activity_failure_changed() returns trigger language plpgsql as $$
begin
  insert into session_activity as a (session_id, started, failed, last_at)
  values (new.session_id, true,
          exists (select from node_instance n where n.session_id = new.session_id and n.state = 2), clock_timestamp())
  on conflict (session_id) do update set failed = excluded.failed where a.failed <> excluded.failed;
  return null;
end $$;

create function session_activity_node_gone() returns trigger language plpgsql as $$
begin
  update session_activity
     set failed = exists (select from node_instance n where n.session_id = old.session_id and n.state = 2)
   where session_id = old.session_id;
  return null;
end $$;

create trigger session_activity_made after insert on session
  referencing new table as made_rows for each statement execute function session_activity_made();
create trigger session_activity_moved after update of desired_version, frozen_at, closed_at on session
  for each row when ((old.desired_version, old.frozen_at, old.closed_at)
                     is distinct from (new.desired_version, new.frozen_at, new.closed_at))
  execute function session_activity_moved();
create trigger session_activity_failure_changed after update of state on node_instance
  for each row when ((old.state = 2) <> (new.state = 2)) execute function session_activity_failure_changed();
create trigger session_activity_node_gone after delete on node_instance
  for each row when (old.state = 2) execute function session_activity_node_gone();

alter table session
  -- Bytes of the session's published outputs, as they were at this position: see store/runs/change-session.ts. Where the
  -- position is not the newest one, a process of the version before has published since, and the outputs are summed.
  add column output_bytes bigint not null default 0,
  add column output_bytes_position bigint not null default 0;

-- Paths into the metadata of sessions that lists show.
alter table project add column pinned_metadata text[] not null default '{}';
