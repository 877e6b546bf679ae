-- Views of the list of sessions that people saved, for themselves or for others.
create table session_view (
  id uuid primary key,
  name text not null,
  scope text not null check (scope in ('mine', 'project', 'everyone')),
  project_id bigint references project (id) on delete cascade,
  -- The query part of the list's address.
  query text not null,
  -- The authentication service's id.
  created_by uuid not null,
  created_at timestamptz(3) not null default clock_timestamp(),
  check ((scope = 'project') = (project_id is not null))
);
create index session_view_by_creator on session_view (created_by);
create index session_view_shared on session_view (created_at) where scope <> 'mine';
create index session_view_by_project on session_view (project_id) where project_id is not null;
