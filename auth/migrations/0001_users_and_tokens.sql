-- The authentication service's own tables. Nothing outside this service reads them.
create table auth.users (
  id uuid primary key,
  username text not null,
  -- Trimmed, NFC, lower case: what sign-in and uniqueness go by.
  username_key text not null unique,
  email text not null default '',
  email_key text not null default '',
  first_name text not null default '',
  last_name text not null default '',
  title text not null default '',
  company text not null default '',
  role text not null check (role in ('Administrator', 'Instructor', 'Trainee', 'Developer')),
  password_hash text not null,
  is_active boolean not null default true,
  is_registration_complete boolean not null default true,
  has_accepted_data_privacy boolean not null default false,
  force_change_password boolean not null default false,
  -- When all tokens were last revoked together; runner tokens of the platform go by it too.
  tokens_revoked_at timestamptz(3),
  created_at timestamptz(3) not null default clock_timestamp(),
  updated_at timestamptz(3) not null default clock_timestamp()
);
create unique index users_email on auth.users (email_key) where email_key <> '';
create index users_order on auth.users (created_at, id);

create table auth.tokens (
  -- HMAC-SHA-256 under TOKEN_KEY. The value itself is stored nowhere.
  digest bytea primary key,
  id uuid not null unique,
  user_id uuid not null references auth.users (id) on delete cascade,
  kind text not null check (kind in ('access', 'offline', 'refresh')),
  -- One sign-in with rememberMe: its refresh tokens and the access tokens they gave.
  family_id uuid,
  hint text not null,
  created_at timestamptz(3) not null default clock_timestamp(),
  expires_at timestamptz(3) not null,
  revoked_at timestamptz(3),
  -- When this refresh token was used. Using it again ends the family.
  replaced_at timestamptz(3),
  last_used_at timestamptz(3)
);
create index tokens_user on auth.tokens (user_id);
create index tokens_family on auth.tokens (family_id) where family_id is not null;
create index tokens_expiry on auth.tokens (expires_at) where kind <> 'offline';
create index tokens_offline on auth.tokens (created_at, id) where kind = 'offline';

-- Failed sign-ins within a window. Keys are digests, so neither usernames nor addresses stand here.
create table auth.sign_in_failures (
  key bytea primary key,
  failures integer not null,
  window_ends_at timestamptz(3) not null
);
create index sign_in_failures_end on auth.sign_in_failures (window_ends_at);
