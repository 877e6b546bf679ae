-- Runner tokens, and runner instances as operators see them (decisions 3 and 9).

create table runner_token (
  -- Tasks claimed with the token are held by `token:<id>`.
  id uuid primary key,
  -- HMAC under SECRETS_KEY. The value itself is stored nowhere; the hint is part of its checksum.
  digest bytea not null unique,
  hint text not null,
  label text not null,
  runner_types text[] not null,
  scopes text[] not null,
  -- Null: the platform itself, for a runner that it deployed.
  created_by uuid,
  -- When all tokens of the creator had last been revoked together before this one was made, as the authentication
  -- service tells it: a later time ends this token, whatever the two clocks say.
  creator_revoked_at timestamptz(3),
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  last_used_at timestamptz,
  revoked_at timestamptz,
  -- True when the token has ended and no claim of it can be left.
  settled boolean not null default false
);
create index runner_token_by_date on runner_token (created_at, id);
create index runner_token_by_creator on runner_token (created_by, created_at);
create index runner_token_unsettled on runner_token (least(expires_at, revoked_at)) where not settled;

-- What the authentication service said last of those who made runner tokens.
create table runner_token_creator (
  user_id uuid primary key,
  -- Null: inactive or deleted.
  role text,
  -- The database's clock before the question whose answer this is.
  checked_at timestamptz not null,
  -- When somebody last set out to ask.
  asked_at timestamptz not null default clock_timestamp(),
  -- When the role last became a lesser one.
  narrowed_at timestamptz not null default '-infinity'
);

alter table runner_instance
  add column id uuid not null default uuidv7() unique,
  -- From User-Agent.
  add column version text,
  add column first_seen_at timestamptz not null default clock_timestamp(),
  -- A drained instance keeps what it holds and gets nothing more.
  add column drained boolean not null default false;
