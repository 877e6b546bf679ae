-- Reports over sessions with or without a dashboard.
alter table report_definition add column covers text not null default 'dashboards' check (covers in ('dashboards', 'sessions'));
-- Reports that are written by themselves and kept. The time of the next one is a fact here; a workflow waits for it.
create table report_schedule (
  id uuid primary key,
  report_key text collate "C" not null references report_definition (key) on delete cascade,
  -- Null: sessions of every project.
  project_id bigint references project (id) on delete cascade,
  format text not null check (format in ('xlsx', 'csv')),
  every text not null check (every in ('hour', 'day', 'week', 'month')),
  -- Since midnight; of an hourly one the minutes of the hour alone count.
  at_minute integer not null check (at_minute between 0 and 1439),
  -- From 1, Monday.
  weekday integer not null check (weekday between 1 and 7),
  -- Held to the last day of the month.
  month_day integer not null check (month_day between 1 and 31),
  time_zone text not null,
  -- Of the scenarios that count; null: all.
  period_days integer check (period_days > 0),
  kept_files integer not null check (kept_files > 0),
  enabled boolean not null,
  -- Null: never.
  next_at timestamptz(3),
  created_by uuid not null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  -- When the healer last woke its workflow.
  healed_at timestamptz not null default '-infinity'
);
create index report_schedule_due on report_schedule (next_at) where next_at is not null;

create table report_file (
  id uuid primary key,
  position bigint not null generated always as identity,
  schedule_id uuid not null references report_schedule (id) on delete cascade,
  due_at timestamptz(3) not null,
  state text not null default 'running' check (state in ('running', 'ready', 'failed')),
  attempts integer not null default 1,
  started_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz(3),
  -- Of a ready one.
  file_name text,
  row_count bigint,
  size_bytes bigint,
  sha256 text,
  data_source_id bigint references data_source (id),
  object_key text,
  -- Why it failed.
  error text,
  -- However often a schedule's time is acted on, it has one file.
  unique (schedule_id, due_at),
  check (state <> 'ready' or object_key is not null)
);
create index report_file_listed on report_file (schedule_id, position);
create index report_file_newest on report_file (position);

-- The first time after one: the clock of the zone counts. A time that the clock skips is the one as long after its jump.
create function report_next_at(every text, at_minute integer, weekday integer, month_day integer, zone text, after timestamptz)
returns timestamptz language sql stable as $$
  with clock as (select after at time zone zone as now), candidate as (
    select (date_trunc('day', c.now) + make_interval(days => n, mins => at_minute)) at time zone zone as at
      from clock c, generate_series(-1, 8) n
     where every = 'day' or (every = 'week' and extract(isodow from c.now + make_interval(days => n)) = weekday)
    union all
    select (m.first + make_interval(
             days => least(month_day, extract(day from m.first + interval '1 month - 1 day')::integer) - 1,
             mins => at_minute)) at time zone zone
      from clock c, generate_series(-1, 2) n,
           lateral (select date_trunc('month', c.now) + make_interval(months => n) as first) m
     where every = 'month'
    union all
    select date_trunc('minute', after)
           + make_interval(mins => (at_minute - extract(minute from c.now)::integer + 119) % 60 + 1)
      from clock c where every = 'hour'
  )
  select min(at) from candidate where at > after
$$;

-- Bytes go with their row, also where a schedule or a project takes it along.
create function report_file_gone() returns trigger language plpgsql as $$
begin
  insert into object_deletion (data_source_id, object_key) values (old.data_source_id, old.object_key);
  return null;
end $$;
create trigger report_file_deleted after delete on report_file
  for each row when (old.object_key is not null) execute function report_file_gone();

create function webhook_report_ready() returns trigger language plpgsql as $$
begin
  if exists (select from webhook where enabled) then
    perform webhook_emit('report.ready', s.project_id, null, jsonb_build_object(
        'reportFileId', new.id, 'scheduleId', s.id, 'reportKey', r.key, 'reportName', r.name, 'projectId', s.project_id,
        'fileName', new.file_name, 'rows', new.row_count, 'sizeBytes', new.size_bytes,
        'dueAt', to_char(new.due_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'dataUrl', '/api/v2/dashboard/report-files/' || new.id || '/data'))
      from report_schedule s join report_definition r on r.key = s.report_key where s.id = new.schedule_id;
  end if;
  return null;
end $$;
create trigger webhook_report_ready after update of state on report_file
  for each row when (new.state = 'ready' and old.state <> 'ready') execute function webhook_report_ready();
