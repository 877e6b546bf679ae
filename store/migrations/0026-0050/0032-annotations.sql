-- Moments and ranges of a session, with words. What the holder of a task stages is seen once its run publishes.
create table annotation (
  id uuid primary key,
  session_id uuid not null references session (id) on delete cascade,
  from_at timestamptz(3) not null,
  to_at timestamptz(3),
  label text not null,
  body text not null,
  tags text[] not null,
  channel text,
  -- The authentication service's id; null when a runner made it.
  created_by uuid,
  -- Null when a person made it.
  run_id uuid,
  node_instance_id bigint references node_instance (id) on delete cascade,
  -- Of what a runner sent: the same again is the same annotation.
  digest bytea,
  staged boolean not null default false,
  created_at timestamptz(3) not null default clock_timestamp()
);
create index annotation_by_time on annotation (session_id, from_at, id) where not staged;
create unique index annotation_of_run on annotation (run_id, digest) where run_id is not null;
create index annotation_staged on annotation (run_id) where staged;
create index annotation_by_label on annotation (label) where not staged;
create index annotation_by_tags on annotation using gin (tags) where not staged;
create index annotation_by_node on annotation (node_instance_id) where node_instance_id is not null;
