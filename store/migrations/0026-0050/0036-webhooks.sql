-- Webhooks and their outbox (additions, section 3). Triggers write the deliveries, in the transaction of each fact, so no
-- code can forget one. Without an enabled webhook a fact costs one look into an empty table.
create table webhook (
  id uuid primary key,
  url text not null,
  events text[] not null,
  -- Null: facts of every project.
  project_id bigint references project (id) on delete cascade,
  enabled boolean not null,
  -- Encrypted; the one before stays valid until its time, so that receivers can be changed over.
  secret text not null,
  previous_secret text,
  previous_until timestamptz,
  -- Why the platform disabled it; null when a person did.
  disabled_reason text,
  created_by uuid not null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  -- When the healer last woke its workflow.
  healed_at timestamptz not null default '-infinity'
);

create table webhook_delivery (
  id uuid primary key default gen_random_uuid(),
  position bigint not null generated always as identity,
  webhook_id uuid not null references webhook (id) on delete cascade,
  type text not null,
  data jsonb not null,
  -- Deliveries of one session are sent in order; without it, at once.
  session_id uuid,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
  -- Null while an earlier delivery of the session is pending.
  due_at timestamptz,
  -- After this a failed attempt is the last one.
  expires_at timestamptz not null default clock_timestamp() + interval '3 days',
  attempts integer not null default 0,
  -- The newest attempts: at, durationMs, status, error, response.
  attempt_log jsonb not null default '[]',
  ended_at timestamptz(3),
  created_at timestamptz(3) not null default clock_timestamp()
);
create index webhook_delivery_due on webhook_delivery (webhook_id, due_at) where state = 'pending' and due_at is not null;
create index webhook_delivery_in_order on webhook_delivery (webhook_id, session_id, position)
  where state = 'pending' and session_id is not null;
create index webhook_delivery_listed on webhook_delivery (webhook_id, position);
create index webhook_delivery_ended on webhook_delivery (ended_at) where ended_at is not null;

-- The newest silence that `runner.gone` reported.
alter table runner_instance add column gone_reported_for timestamptz;

-- The share lock on the newest pending delivery of the session makes the end of that one and this insert see each other:
-- either this waits and is due at once, or the end finds this row.
create function webhook_emit(kind text, of_project bigint, of_session uuid, facts jsonb) returns void
language plpgsql as $$
declare
  hook uuid;
begin
  for hook in
    select w.id from webhook w
     where w.enabled and kind = any (w.events) and (w.project_id is null or w.project_id = of_project)
  loop
    perform 1 from webhook_delivery d
      where d.webhook_id = hook and d.session_id = of_session and d.state = 'pending'
      order by d.position desc limit 1 for share;
    insert into webhook_delivery (webhook_id, type, data, session_id, due_at)
    values (hook, kind, facts, of_session, case when found then null else clock_timestamp() end);
    perform pg_notify('webhook_due', hook::text);
  end loop;
end $$;

create function webhook_session_facts(of_session uuid) returns jsonb language sql stable as $$
  select jsonb_build_object('sessionId', s.id, 'sessionName', s.name, 'projectId', s.project_id)
    from session s where s.id = of_session
$$;

create function webhook_session_created() returns trigger language plpgsql as $$
begin
  if exists (select from webhook where enabled) then
    perform webhook_emit('session.created', new.project_id, new.id, webhook_session_facts(new.id));
  end if;
  return null;
end $$;

create function webhook_session_closed() returns trigger language plpgsql as $$
begin
  if exists (select from webhook where enabled) then
    perform webhook_emit('session.closed', new.project_id, new.id,
      webhook_session_facts(new.id) || jsonb_build_object(
        'closedAt', to_char(new.closed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')));
  end if;
  return null;
end $$;

create function webhook_node_ended() returns trigger language plpgsql as $$
declare
  run uuid;
  facts jsonb;
begin
  if not exists (select from webhook where enabled) then
    return null;
  end if;
  select r.id into run from node_run r where r.node_instance_id = new.id order by r.created_at desc limit 1;
  -- An input node has no runs: its uploads are `output.published`.
  if run is null then
    return null;
  end if;
  facts := webhook_session_facts(new.session_id);
  perform webhook_emit(case new.state when 2 then 'node.failed' else 'node.succeeded' end,
    (facts ->> 'projectId')::bigint, new.session_id,
    facts || jsonb_build_object('nodeInstanceId', new.id, 'nodeName', new.name, 'runId', run,
                                'statusDetails', new.status_details));
  return null;
end $$;

create function webhook_output_published() returns trigger language plpgsql as $$
declare
  facts jsonb;
begin
  if not exists (select from webhook where enabled) then
    return null;
  end if;
  facts := webhook_session_facts(new.session_id);
  perform webhook_emit('output.published', (facts ->> 'projectId')::bigint, new.session_id,
    facts || jsonb_build_object('nodeInstanceId', new.node_instance_id, 'outputId', new.id,
      'nodeName', (select n.name from node_instance n where n.id = new.node_instance_id),
      'outputIdentifier', new.output_identifier, 'contentType', new.content_type, 'sizeBytes', new.size_bytes,
      'sha256', new.sha256, 'runId', new.run_id));
  return null;
end $$;

-- Runs at the commit, when what follows the run has been queued: a session with an open run has not settled.
create function webhook_session_settled() returns trigger language plpgsql as $$
declare
  facts jsonb;
  nodes jsonb;
begin
  if not exists (select from webhook where enabled)
     or exists (select from node_run r where r.session_id = new.session_id and r.state <> 'done')
     or current_setting('webhook.settled', true) = new.session_id::text then
    return null;
  end if;
  facts := webhook_session_facts(new.session_id);
  if facts is null then
    return null;
  end if;
  -- A transaction that ends several runs settles the session once.
  perform set_config('webhook.settled', new.session_id::text, true);
  select jsonb_build_object('succeeded', count(*) filter (where n.state = 3), 'failed', count(*) filter (where n.state = 2),
                            'total', count(*))
    into nodes from node_instance n where n.session_id = new.session_id;
  perform webhook_emit('session.settled', (facts ->> 'projectId')::bigint, new.session_id,
    facts || jsonb_build_object('state', case when (nodes ->> 'failed')::int > 0 then 'failed' else 'done' end,
                                'nodes', nodes));
  return null;
end $$;

create trigger webhook_session_created after insert on session for each row execute function webhook_session_created();
create trigger webhook_session_closed after update of close_ended_at on session
  for each row when (old.close_ended_at is null and new.close_ended_at is not null) execute function webhook_session_closed();
create trigger webhook_node_ended after update of state on node_instance
  for each row when (new.state in (2, 3) and old.state <> new.state) execute function webhook_node_ended();
create trigger webhook_output_inserted after insert on node_output
  for each row when (new.position is not null) execute function webhook_output_published();
create trigger webhook_output_published after update of position on node_output
  for each row when (new.position is not null and old.position is distinct from new.position)
  execute function webhook_output_published();
create constraint trigger webhook_session_settled after update of state on node_run deferrable initially deferred
  for each row when (new.state = 'done' and old.state <> 'done') execute function webhook_session_settled();
