-- The platform's queryable state. The authentication service keeps its own tables in schema auth.
-- Positions are numbers of a session, given under its row lock; ids of a sequence do not become visible in order.

create table platform_user (
  id bigint generated always as identity primary key,
  external_id uuid not null unique,
  type text not null,
  created_at timestamptz not null default now()
);

create table data_source (
  id bigint generated always as identity primary key,
  name text not null unique,
  kind text not null default 's3',
  endpoint text not null default '',
  region text not null default '',
  bucket text not null default '',
  prefix text not null default '',
  force_path_style boolean not null default true,
  access_key_id text,
  secret_ciphertext text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table feature (
  name text primary key,
  version text not null,
  manifest jsonb not null,
  published_by uuid,
  published_at timestamptz not null default now()
);

create table runner_type (
  name text primary key,
  runtime text not null check (runtime in ('system', 'sdk', 'external')),
  entrypoint text,
  description text not null default '',
  feature_name text references feature (name),
  retired boolean not null default false
);

create table node_template (
  id bigint generated always as identity primary key,
  name text not null unique,
  runner_type text not null references runner_type (name),
  type text not null check (type in ('Input', 'Transform', 'Processing', 'Aggregation')),
  description text not null default '',
  configuration_schema jsonb not null default '{}',
  trigger text not null default 'all' check (trigger in ('all', 'any')),
  incremental boolean not null default false,
  reprocess text not null default 'latest' check (reprocess in ('latest', 'all')),
  max_attempts integer not null default 3,
  timeout_seconds integer,
  lease_seconds integer,
  feature_name text references feature (name),
  retired boolean not null default false
);

create table session_template (
  id bigint generated always as identity primary key,
  name text not null unique,
  template_version text not null default '',
  description text not null default '',
  configuration text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table session_template_node (
  id bigint generated always as identity primary key,
  session_template_id bigint not null references session_template (id) on delete cascade,
  ordinal integer not null,
  name text not null,
  node_template_id bigint not null references node_template (id),
  default_configuration text not null,
  parent_names text[] not null default '{}',
  unique (session_template_id, name)
);

create table project (
  id bigint generated always as identity primary key,
  hex_id text not null unique,
  title text not null,
  description text not null default '',
  icon text not null default '',
  owner_id bigint not null references platform_user (id),
  default_session_template_id bigint references session_template (id),
  queued_ingestion boolean not null default false,
  retention_days integer,
  created_at timestamptz not null default now()
);

create table session (
  id uuid primary key,
  name text not null,
  email_identifier text not null,
  email_key text not null,
  simulation_name text,
  session_template_id bigint not null references session_template (id),
  project_id bigint not null references project (id),
  user_id uuid not null,
  logo_url text not null default '',
  metadata jsonb,
  frozen_at timestamptz,
  -- The next position of this session is newest_position + 1.
  newest_position bigint not null default 0,
  -- The fair rank of the run that was queued last: see node_run.fair_rank.
  fair_rank timestamptz not null default '-infinity',
  -- Raised by every fact that may change the plan; advanced_seq follows when the session's workflow has looked.
  wanted_seq bigint not null default 0,
  advanced_seq bigint not null default 0,
  wanted_at timestamptz,
  -- Until then its workflow looks again by itself, so that facts about outside runs need not wake it.
  next_look_at timestamptz,
  -- When the healer last made sure that a session with open runs has a living workflow.
  checked_at timestamptz not null default now(),
  -- When the healer last had it looked at.
  healed_at timestamptz not null default '-infinity',
  created_at timestamptz not null default now()
);
create index session_by_date on session (created_at desc, id desc);
create index session_by_name on session (name, id);
create index session_by_project on session (project_id, created_at desc, id desc);
create index session_by_template on session (session_template_id, created_at desc, id desc);
create index session_wanted on session (wanted_at) where wanted_seq > advanced_seq;

create table session_user_entry (
  id bigint generated always as identity primary key,
  session_id uuid not null references session (id) on delete cascade,
  identifier text not null,
  created_at timestamptz not null default now(),
  unique (session_id, identifier)
);

create table node_instance (
  id bigint generated always as identity primary key,
  session_id uuid not null references session (id) on delete cascade,
  ordinal integer not null,
  name text not null,
  node_template_id bigint not null references node_template (id),
  configuration text not null,
  parent_ids bigint[] not null default '{}',
  child_ids bigint[] not null default '{}',
  state smallint not null default 0,
  status_details text not null default '',
  last_processed timestamptz,
  newest_position bigint not null default 0,
  newest_output_id bigint,
  -- Every parent output up to here has been part of a run that ended.
  consumed_position bigint not null default 0,
  watermark_position bigint not null default 0,
  watermark_output_id bigint,
  runner_state jsonb,
  follow_up_wanted boolean not null default false,
  reprocess_wanted boolean not null default false,
  unique (session_id, name)
);
create index node_instance_by_session on node_instance (session_id, ordinal);

create table node_run (
  id uuid primary key,
  session_id uuid not null references session (id) on delete cascade,
  node_instance_id bigint not null references node_instance (id) on delete cascade,
  template_name text not null,
  runner_type text not null,
  reason text not null check (reason in ('input', 'reprocess', 'follow-up')),
  state text not null check (state in ('queued', 'held', 'waiting', 'done')),
  attempt integer not null default 1,
  max_attempts integer not null,
  lost_count integer not null default 0,
  release_count integer not null default 0,
  -- Fixed at the first claim and the same for all attempts.
  upper_position bigint,
  wrote_output boolean not null default false,
  cancel_requested boolean not null default false,
  -- Claims go by this: it spreads the runs of one session, so that a session with many does not hold up another's first.
  fair_rank timestamptz not null,
  due_at timestamptz,
  outcome text,
  status_details text not null default '',
  created_at timestamptz not null default now(),
  ended_at timestamptz
);
create unique index node_run_open on node_run (node_instance_id) where state <> 'done';
create index node_run_claimable on node_run (template_name, fair_rank) where state = 'queued';
create index node_run_due on node_run (due_at) where state = 'waiting';
create index node_run_open_by_session on node_run (session_id) where state <> 'done';
create index node_run_by_node on node_run (node_instance_id, created_at);

create table node_attempt (
  run_id uuid not null references node_run (id) on delete cascade,
  number integer not null,
  session_id uuid not null,
  available_at timestamptz not null default now(),
  started_at timestamptz,
  ended_at timestamptz,
  outcome text,
  details text not null default '',
  -- Whether the session's workflow was told to wait for its end, and whether it has told of it.
  awaited boolean not null default false,
  reported boolean not null default false,
  primary key (run_id, number)
);
create index node_attempt_unreported on node_attempt (session_id) where ended_at is not null and not reported;

create table runner_instance (
  holder text not null,
  instance_id text not null,
  claim_seq bigint not null default 0,
  last_seen_at timestamptz not null default now(),
  primary key (holder, instance_id)
);

create table node_claim (
  task_id uuid primary key,
  run_id uuid not null references node_run (id) on delete cascade,
  attempt integer not null,
  holder text not null,
  instance_id text not null,
  claimed_at timestamptz not null,
  lease_seconds integer not null,
  lease_until timestamptz not null,
  -- When the attempt ends as a time-out; null where the node template sets no limit.
  timeout_at timestamptz,
  -- Set by the first call for the task: a claim that was never used does not count as lost.
  used boolean not null default false,
  watermark_position bigint not null,
  watermark_output_id bigint,
  phase text,
  message text,
  progress jsonb,
  ended_at timestamptz,
  ending text,
  ending_digest text,
  ending_reply jsonb
);
create unique index node_claim_held on node_claim (holder, instance_id) where ended_at is null;
create unique index node_claim_of_run on node_claim (run_id) where ended_at is null;
create index node_claim_lease on node_claim (lease_until) where ended_at is null;
create index node_claim_timeout on node_claim (timeout_at) where ended_at is null and timeout_at is not null;
create index node_claim_ended on node_claim (ended_at) where ended_at is not null;

create table node_output (
  id bigint generated always as identity primary key,
  session_id uuid not null references session (id) on delete cascade,
  node_instance_id bigint not null references node_instance (id) on delete cascade,
  -- Null while the output is staged.
  position bigint,
  run_id uuid references node_run (id) on delete set null,
  data_source_id bigint not null references data_source (id),
  object_key text not null,
  object_offset bigint,
  output_identifier text not null,
  content_type text,
  content_encoding text,
  size_bytes bigint not null,
  sha256 text,
  etag text not null,
  metadata jsonb,
  configuration text not null,
  created_at timestamptz not null default clock_timestamp(),
  unique (node_instance_id, output_identifier)
);
create index node_output_by_node on node_output (node_instance_id, position);
create index node_output_staged on node_output (run_id) where position is null;

-- Earlier versions of outputs whose bytes were replaced: runs claimed before keep reading them.
create table node_output_superseded (
  output_id bigint not null references node_output (id) on delete cascade,
  session_id uuid not null references session (id) on delete cascade,
  node_instance_id bigint not null,
  position bigint not null,
  superseded_at_position bigint not null,
  data_source_id bigint not null references data_source (id),
  object_key text not null,
  object_offset bigint,
  content_type text,
  content_encoding text,
  size_bytes bigint not null,
  sha256 text,
  etag text not null,
  metadata jsonb,
  configuration text not null,
  created_at timestamptz not null,
  primary key (output_id, position)
);
create index node_output_superseded_by_node on node_output_superseded (node_instance_id, position);

-- Every published version of every output. A run with the upper bound U sees those with
-- position <= U and (superseded_at_position is null or superseded_at_position > U).
create view output_version as
  select o.id as output_id, o.session_id, o.node_instance_id, o.position, null::bigint as superseded_at_position,
         o.data_source_id, o.object_key, o.object_offset, o.output_identifier, o.content_type, o.content_encoding,
         o.size_bytes, o.sha256, o.etag, o.metadata, o.configuration, o.created_at
    from node_output o where o.position is not null
  union all
  select v.output_id, v.session_id, v.node_instance_id, v.position, v.superseded_at_position,
         v.data_source_id, v.object_key, v.object_offset, o.output_identifier, v.content_type, v.content_encoding,
         v.size_bytes, v.sha256, v.etag, v.metadata, v.configuration, v.created_at
    from node_output_superseded v join node_output o on o.id = v.output_id;

-- Written before the first byte of an object, deleted by the transaction that publishes it; the sweeper works from the rest.
create table pending_object (
  object_key text primary key,
  data_source_id bigint not null references data_source (id),
  beat_at timestamptz not null default now()
);
create index pending_object_beat on pending_object (beat_at);

create table object_deletion (
  id bigint generated always as identity primary key,
  data_source_id bigint not null references data_source (id),
  object_key text not null,
  wanted_at timestamptz not null default now()
);

create table dimension (
  id bigint generated always as identity primary key,
  session_id uuid not null references session (id) on delete cascade,
  node_instance_id bigint not null unique references node_instance (id) on delete cascade,
  name text not null,
  dashboard_name text not null,
  dashboard_version text not null,
  sources jsonb not null default '[]',
  layout jsonb,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index dimension_by_session on dimension (session_id);

create table scenario_instance (
  id uuid primary key,
  session_id uuid not null references session (id) on delete cascade,
  simulation_id text not null default '',
  scenario_name text not null,
  from_at timestamptz,
  to_at timestamptz,
  created_at timestamptz not null default now()
);
create index scenario_instance_by_session on scenario_instance (session_id, created_at);

-- One row for each API process: a gap in all of them tells that heartbeats had nowhere to go.
create table platform_alive (
  process_id uuid primary key,
  beat_at timestamptz not null
);
