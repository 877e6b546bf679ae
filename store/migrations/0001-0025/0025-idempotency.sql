-- Idempotency keys, for a day: who sent which request under which key, what it made, and how it was answered.
create table idempotency_key (
  -- Kind and id of the caller: no address, no token.
  caller text not null,
  key_digest bytea not null,
  request_digest bytea not null,
  -- The request that is at work under the key, and how long it may be taken for alive.
  holder uuid not null,
  lease_until timestamptz not null,
  -- Set by the transaction that makes something, with what it answered.
  made_at timestamptz,
  result_ciphertext bytea,
  -- Of a streamed body.
  body_sha256 text,
  body_bytes bigint,
  -- Status, headers and body, readable only with the caller's key.
  reply_ciphertext bytea,
  created_at timestamptz not null default clock_timestamp(),
  primary key (caller, key_digest)
);
create index idempotency_key_by_age on idempotency_key (created_at);

-- Which session a managed ingest made for an identified file: the same file again makes no other one.
create table ingest_upload (
  ingest_id bigint not null references ingest (id) on delete cascade,
  -- SHA-256 over identifier, bytes, type, encoding and metadata.
  file_digest bytea not null,
  -- Null only within the transaction that makes the session.
  session_id uuid references session (id) on delete cascade,
  primary key (ingest_id, file_digest)
);
create index ingest_upload_by_session on ingest_upload (session_id);
