-- Runs of retention: asked for by an Administrator, or by the clock. One that a worker left is taken up by the next.
create table retention_run (
  id bigint generated always as identity primary key,
  requested_at timestamptz(3) not null default clock_timestamp(),
  -- The authentication service's id; null: the clock.
  requested_by uuid,
  started_at timestamptz(3),
  ended_at timestamptz(3),
  sessions bigint not null default 0,
  outputs bigint not null default 0,
  orphans bigint not null default 0,
  -- Of outputs, those of deleted sessions too, and of orphans.
  bytes bigint not null default 0,
  -- What could not be looked at.
  error text
);
-- At most one at a time.
create unique index retention_run_open on retention_run ((true)) where ended_at is null;
