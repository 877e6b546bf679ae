-- The log of each attempt, as its runner wrote it, and what a replay needs. The platform's own lines are made when a log
-- is read, from claims, attempts, outputs and the actions below: a claim or an end of a task writes nothing more for them.
create table node_log (
  run_id uuid not null,
  attempt integer not null,
  -- The task whose calls `sequence` counts: each claim begins at 1 again.
  task_id uuid not null,
  sequence bigint not null,
  -- When its newest piece came, in milliseconds since 1970: higher with every piece.
  last_ms bigint not null,
  bytes bigint not null,
  -- Beyond what one attempt may log.
  dropped_entries bigint not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  primary key (run_id, attempt),
  foreign key (run_id, attempt) references node_attempt (run_id, number) on delete cascade
) with (fillfactor = 70);
create index node_log_by_age on node_log (created_at);

-- The entries of one call, compressed.
create table node_log_piece (
  run_id uuid not null,
  attempt integer not null,
  received_ms bigint not null,
  entries integer not null,
  -- One bit for each level that occurs.
  levels smallint not null,
  body bytea storage external not null,
  primary key (run_id, received_ms, attempt),
  foreign key (run_id, attempt) references node_log (run_id, attempt) on delete cascade
);

-- What operators did to a run.
create table node_run_action (
  run_id uuid not null references node_run (id) on delete cascade,
  at timestamptz not null default clock_timestamp(),
  -- The attempt that it ended, or that it made.
  attempt integer not null,
  action text not null check (action in ('cancel', 'retry')),
  -- The authentication service's id.
  user_id uuid not null,
  primary key (run_id, at)
);

-- The node's state as it stood at this claim, once the claim's task has changed it: a replay begins with it.
-- JSON null: there was none.
alter table node_claim add column state_before jsonb;
