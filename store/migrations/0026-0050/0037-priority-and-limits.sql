-- Priorities of projects and sessions, and limits on how many tasks are held at once (additions, section 2).
alter table project add column priority smallint not null default 0;
alter table session add column priority smallint not null default 0;

alter table node_run
  -- Claims go by this: the queue time, moved by the priorities. Null: the queue time, of runs from before.
  add column claim_time timestamptz,
  -- Claimed under a limit: when it is no longer held, claims that wait for a place are notified.
  add column limited boolean not null default false;

-- Projects whose priority has changed, until no open run has its claim time from the priority before.
create table claim_order_change (
  project_id bigint primary key references project (id) on delete cascade,
  changed_at timestamptz not null default clock_timestamp()
);

create table concurrency_limit (
  kind text not null check (kind in ('nodeTemplate', 'runnerType')),
  name text not null,
  -- {max, perProject, perSession}: what the manifest says, and what an operator says in its place.
  declared jsonb,
  chosen jsonb,
  max integer generated always as ((coalesce(chosen, declared) ->> 'max')::integer) stored,
  per_project integer generated always as ((coalesce(chosen, declared) ->> 'perProject')::integer) stored,
  per_session integer generated always as ((coalesce(chosen, declared) ->> 'perSession')::integer) stored,
  -- The authentication service's id; null: the manifest.
  changed_by uuid,
  changed_at timestamptz(3) not null default clock_timestamp(),
  primary key (kind, name)
);

-- The limits that a node template is under.
create view template_limit as
  select t.name as template_name, t.runner_type, l.kind, l.name, l.max, l.per_project, l.per_session
    from concurrency_limit l
    join node_template t on case l.kind when 'nodeTemplate' then t.name else t.runner_type end = l.name
   where num_nonnulls(l.max, l.per_project, l.per_session) > 0;

-- A place is free: whoever waits for a task of a template under the same limits is notified.
create function notify_freed_place() returns trigger language plpgsql as $$
begin
  perform pg_notify('task_ready', t.name)
    from node_template t
   where (t.name = old.template_name
           or t.runner_type = old.runner_type
              and exists (select from concurrency_limit l where l.kind = 'runnerType' and l.name = old.runner_type))
     and exists (select from node_run r where r.state = 'queued' and not r.frozen and r.template_name = t.name);
  return null;
end $$;
create trigger freed_place after update of state on node_run
  for each row when (old.limited and old.state = 'held' and new.state <> 'held') execute function notify_freed_place();
create trigger freed_place_by_delete after delete on node_run
  for each row when (old.limited and old.state = 'held') execute function notify_freed_place();
