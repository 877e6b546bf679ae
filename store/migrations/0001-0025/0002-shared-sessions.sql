-- Shared sessions, closing, freezing and deleting sessions (architecture 10; decisions 5 and 6).

create extension if not exists btree_gist;

alter table session
  -- A shared session's part of the match key that no other column holds, and its window [start, end); null on others.
  add column machine_group integer,
  add column window_seconds integer,
  add column window_start_at timestamptz,
  add column window_end_at timestamptz,
  -- Identifiers and times; all of it, with the participants, is shown in metadata.
  add column opened_by text,
  add column closed_at timestamptz,
  add column closed_by text,
  add column close_reason text,
  add column closed_participants integer,
  -- When the close fell due: at once, or at the end of the window workflow's timer.
  add column close_ended_at timestamptz,
  -- When the window workflow has to act next; null when nothing is left to wait for.
  add column window_due_at timestamptz,
  -- Since when the window workflow has not looked at what changed; null when it has.
  add column window_wanted_at timestamptz,
  -- When the healer last had the window workflow checked or started.
  add column window_checked_at timestamptz not null default now(),
  add constraint session_shared_whole check (
    (machine_group is null and window_seconds is null and window_start_at is null and window_end_at is null)
    or (machine_group is not null and window_seconds is not null and window_start_at is not null
        and window_end_at is not null and opened_by is not null and simulation_name is not null)),
  -- Whatever the code does: no two open sessions of one match key with overlapping windows.
  add constraint session_shared_open exclude using gist (
    name with =, simulation_name with =, project_id with =, session_template_id with =, machine_group with =,
    window_seconds with =, tstzrange(window_start_at, window_end_at) with &&
  ) where (machine_group is not null and closed_at is null);

create index session_window_due on session (window_due_at) where window_due_at is not null;
create index session_window_checked on session (window_checked_at) where window_due_at is not null;
create index session_window_wanted on session (window_wanted_at) where window_wanted_at is not null;

-- Participants of shared sessions. The same person never stands here twice: either part tells a person.
create table session_participant (
  id bigint generated always as identity primary key,
  session_id uuid not null references session (id) on delete cascade,
  identifier text not null,
  -- The one-way key of the address in every case; never shown.
  key text not null,
  start_at timestamptz not null,
  joined_at timestamptz not null,
  unique (session_id, identifier),
  unique (session_id, key)
);

-- Workflows of deleted sessions that have not been ended yet.
create table session_ending (
  session_id uuid primary key,
  wanted_at timestamptz not null default clock_timestamp()
);

-- Runs of frozen sessions cannot be claimed. Claims go by index over this table alone, so it is told here.
alter table node_run add column frozen boolean not null default false;
drop index node_run_claimable;
create index node_run_claimable on node_run (template_name, fair_rank) where state = 'queued' and not frozen;
drop index node_run_due;
create index node_run_due on node_run (due_at) where state = 'waiting' and not frozen;

-- The node instance to which an upload goes: its session's template cannot change meanwhile.
alter table pending_object
  add column node_instance_id bigint references node_instance (id) on delete set null;
create index pending_object_by_node on pending_object (node_instance_id) where node_instance_id is not null;

-- What hangs on a node goes with the node, which goes with its session: a second way there would cost an index each.
alter table node_run drop constraint node_run_session_id_fkey;
alter table node_output drop constraint node_output_session_id_fkey;
alter table node_output_superseded drop constraint node_output_superseded_session_id_fkey;
create index node_claim_by_run on node_claim (run_id);
create index node_output_by_run on node_output (run_id) where run_id is not null;
-- Whether something still refers to an object.
create index node_output_by_object on node_output (object_key);
create index node_output_superseded_by_object on node_output_superseded (object_key);
