-- Queued and managed ingest (decisions 8).

-- Uploads that were acknowledged with 202: their bytes are stored, their outputs are not published yet.
-- A node's rows are published in the order of their ids: whoever was acknowledged before another began stands first.
create table queued_upload (
  id bigint generated always as identity primary key,
  project_id bigint not null references project (id),
  session_id uuid not null,
  node_instance_id bigint not null references node_instance (id) on delete cascade,
  data_source_id bigint not null references data_source (id),
  object_key text not null,
  output_identifier text,
  content_type text,
  content_encoding text,
  size_bytes bigint not null,
  sha256 text,
  etag text not null,
  metadata jsonb,
  queued_at timestamptz not null default clock_timestamp()
);
create index queued_upload_by_project on queued_upload (project_id, id);
create index queued_upload_by_node on queued_upload (node_instance_id, id);

-- When the healer last had the project's queue looked at.
alter table project add column ingest_healed_at timestamptz not null default '-infinity';

create table ingest (
  id bigint generated always as identity primary key,
  url_path text not null unique,
  project_id bigint not null references project (id),
  session_template_id bigint not null references session_template (id),
  input_node text not null,
  data_source_id bigint not null references data_source (id),
  creation_behaviour text not null check (creation_behaviour in ('NewSession', 'LatestSession')),
  data_type text not null check (data_type in ('Csv', 'Json', 'Binary', 'Any')),
  allow_anonymous boolean not null default false,
  -- HMAC of the secret; the hint is its last four characters, which are part of its checksum.
  secret_digest bytea not null,
  secret_hint text not null,
  -- Who owns the sessions that it makes: GUID, and the one-way key of the address.
  created_by uuid not null,
  created_by_key text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
