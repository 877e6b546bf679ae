-- Which host keeps which process of a deployed runner type, and how that goes (decisions 10).
create table deployed_runner (
  runner_type text not null references runner_type (name),
  -- From 1: a runner type may have several processes.
  number integer not null,
  -- The host's process. When it has been silent for long, another one takes over.
  host_id uuid not null,
  held_until timestamptz not null,
  -- What the process calls with.
  token_id uuid,
  entrypoint text not null,
  version text not null,
  state text not null check (state in ('starting', 'running', 'waiting', 'stopping')),
  -- Why it is in this state.
  message text not null default '',
  -- How often this host has started it.
  starts integer not null default 0,
  changed_at timestamptz not null default clock_timestamp(),
  primary key (runner_type, number)
);
