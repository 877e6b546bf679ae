-- What the sessions of each project held when they were last added up: for platforms with so many that nobody can wait for
-- it. The time is that of the whole table.
create table project_storage (
  project_id bigint primary key references project (id) on delete cascade,
  sessions bigint not null,
  frozen_sessions bigint not null,
  output_bytes bigint not null,
  newest_session_at timestamptz,
  measured_at timestamptz not null,
  -- How long adding up took.
  measured_seconds double precision not null
);
