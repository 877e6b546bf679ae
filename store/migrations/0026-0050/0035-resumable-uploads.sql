-- Resumable uploads of callers (additions 3): each is one multi-part upload of the object store.

-- There is no reference to the node: a row stands, whatever becomes of the session, until the store is known to hold
-- nothing of the upload.
create table resumable_upload (
  id uuid primary key,
  node_instance_id bigint not null,
  -- Whoever began it: the only caller who may continue it.
  user_id text not null,
  data_source_id bigint not null references data_source (id),
  object_key text not null unique,
  -- The store's name for it; null until the store has told it.
  store_upload_id text,
  size_bytes bigint not null check (size_bytes >= 0),
  -- Bytes that are in the store for good: in parts, and after them in the tail.
  offset_bytes bigint not null default 0 check (offset_bytes between 0 and size_bytes),
  -- An object with the bytes after the last part, which are too few for one.
  tail_key text,
  tail_bytes bigint not null default 0,
  -- The next part's number: none is given out twice, so that a late part replaces no other.
  next_part integer not null default 1,
  -- State of the SHA-256 of all bytes so far; null when it has to be read from the store at the end.
  hash_state bytea,
  sha256 text,
  -- open: takes bytes. whole: has all of them, and is no output yet. done: became an output, or waits in the queue of
  -- its project. over: terminated, expired or lost, and still to be removed from the store.
  state text not null default 'open' check (state in ('open', 'whole', 'done', 'over')),
  -- The request that writes; a later one makes it stop.
  writer uuid,
  writer_seen_at timestamptz,
  is_wanted boolean not null default false,
  output_identifier text,
  content_type text,
  content_encoding text,
  metadata jsonb,
  -- What it became; null for one in the queue.
  output_id bigint,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  -- When its removal may be tried.
  sweep_at timestamptz not null
);
create index resumable_upload_by_sweep on resumable_upload (sweep_at);
create index resumable_upload_by_user on resumable_upload (user_id) where state in ('open', 'whole');
create index resumable_upload_by_tail on resumable_upload (tail_key) where tail_key is not null;

create table resumable_upload_part (
  upload_id uuid not null references resumable_upload (id) on delete cascade,
  number integer not null,
  size_bytes bigint not null,
  -- The store's, as it gave it.
  etag text not null,
  primary key (upload_id, number)
);
