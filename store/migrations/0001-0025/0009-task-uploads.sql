-- Outputs of runners that come in parts (decisions 9): each upload is one multi-part upload of the object store.

-- A handle belongs to a claim and dies with it. There is no reference to the claim: a row stands, whatever becomes of
-- task and session, until the store is known to hold nothing of the upload.
create table task_upload (
  handle uuid primary key,
  task_id uuid not null,
  data_source_id bigint not null references data_source (id),
  object_key text not null unique,
  -- The store's name for it; null until the store has told it.
  store_upload_id text,
  -- open: takes parts. over: given up, or not needed, and still to be removed from the store. done: became an output,
  -- or is removed; the row only answers repeats.
  state text not null default 'open' check (state in ('open', 'over', 'done')),
  -- What its completion was answered with.
  output_id bigint,
  output_identifier text,
  content_type text,
  content_encoding text,
  metadata jsonb,
  watermark_input_id bigint,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  -- When its removal from the store may be tried.
  sweep_at timestamptz not null default '-infinity'
);
create index task_upload_by_sweep on task_upload (sweep_at);

create table task_upload_part (
  handle uuid not null references task_upload (handle) on delete cascade,
  number integer not null,
  size_bytes bigint not null,
  sha256 text not null,
  -- The store's, as it gave it.
  etag text not null,
  primary key (handle, number)
);
