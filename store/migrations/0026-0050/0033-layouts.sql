-- Saved layouts of dashboards: of one person, or for a project, a session template or everyone.
create table dashboard_layout (
  id bigint generated always as identity primary key,
  name text not null,
  scope text not null check (scope in ('mine', 'project', 'template', 'everyone')),
  -- The authentication service's id of the person who made it; a layout of scope mine is theirs alone.
  owner_id uuid not null,
  project_id bigint references project (id) on delete cascade,
  session_template_id bigint references session_template (id) on delete cascade,
  -- Names and keys of the channels that its panels draw: it fits dashboards that have one of them.
  channels text[] not null,
  layout jsonb not null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);
create index dashboard_layout_by_owner on dashboard_layout (owner_id) where scope = 'mine';
create index dashboard_layout_by_project on dashboard_layout (project_id) where project_id is not null;
create index dashboard_layout_by_template on dashboard_layout (session_template_id)
  where session_template_id is not null;
