-- What lists, searches and queries of sessions go by. A session's own row holds counters that every run changes, and
-- each such change writes to each of its indices; so all that describes a session stands here once more, kept by
-- triggers in the same transaction, and the many indices are here.

create extension if not exists pg_trgm;

create table session_card (
  session_id uuid primary key references session (id) on delete cascade,
  name text collate "C" not null,
  simulation_name text collate "C",
  email_identifier text collate "C" not null,
  email_key text collate "C" not null,
  project_id bigint not null,
  session_template_id bigint not null,
  user_id uuid not null,
  logo_url text collate "C" not null,
  created_at timestamptz not null,
  -- As shown: with what belongs to the platform.
  metadata jsonb,
  -- Of the people in metadata, at the same paths, the one-way keys of their addresses; never shown.
  metadata_keys jsonb,
  -- Name, simulation name and id in lower case, one on a line each.
  search_text text collate "C" not null
);

-- The metadata of a session as everybody is shown them, with identifiers. The one place that says so.
create function session_shown_metadata(s session) returns jsonb language sql stable as $$
  select case when s.machine_group is null and s.closed_at is null then s.metadata else
    coalesce(s.metadata, '{}')
    || case when s.machine_group is null then '{}'::jsonb else
         jsonb_build_object(
           'startTimeUtc', to_char(s.window_start_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
           'timeWindowSeconds', s.window_seconds,
           'machineGroup', s.machine_group,
           'openedBy', s.opened_by,
           'status', 'open',
           'participants', coalesce((
             select jsonb_agg(jsonb_build_object(
                      'id', p.identifier,
                      'startTimeUtc', to_char(p.start_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                      'joinedAt', to_char(p.joined_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
                    order by p.id)
               from session_participant p where p.session_id = s.id), '[]')) end
    || case when s.closed_at is null then '{}'::jsonb else
         jsonb_build_object(
           'status', 'closed',
           'closedBy', s.closed_by,
           'closedAt', to_char(s.closed_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
         || case when s.close_reason is null then '{}'::jsonb
                 else jsonb_build_object('closeReason', s.close_reason) end end end
$$;

create function session_metadata_keys(s session) returns jsonb language sql stable as $$
  select case when s.machine_group is null then null else
    (select jsonb_build_object(
              'openedBy', max(p.key) filter (where p.identifier = s.opened_by),
              'closedBy', max(p.key) filter (where p.identifier = s.closed_by),
              'participants', coalesce(jsonb_agg(jsonb_build_object('id', p.key) order by p.id), '[]'))
       from session_participant p where p.session_id = s.id) end
$$;

create function session_card_of(s session) returns setof session_card language sql stable as $$
  select s.id, s.name, s.simulation_name, s.email_identifier, s.email_key, s.project_id, s.session_template_id,
         s.user_id, s.logo_url, s.created_at, session_shown_metadata(s), session_metadata_keys(s),
         lower(s.name || E'\n' || coalesce(s.simulation_name, '')) || E'\n' || s.id::text
$$;

-- Whoever writes here has locked the card first, so that of two participants who join at once neither is lost.
create function write_session_card(wanted uuid) returns void language plpgsql as $$
begin
  perform 1 from session_card where session_id = wanted for update;
  insert into session_card as c
  select made.* from session s, lateral session_card_of(s) made where s.id = wanted
  on conflict (session_id) do update
     set name = excluded.name, simulation_name = excluded.simulation_name,
         email_identifier = excluded.email_identifier, email_key = excluded.email_key,
         project_id = excluded.project_id, session_template_id = excluded.session_template_id,
         user_id = excluded.user_id, logo_url = excluded.logo_url, created_at = excluded.created_at,
         metadata = excluded.metadata, metadata_keys = excluded.metadata_keys, search_text = excluded.search_text
   where c.* is distinct from excluded.*;
end $$;

create function session_changed() returns trigger language plpgsql as $$
begin
  perform write_session_card(new.id);
  return null;
end $$;

create function session_participants_changed() returns trigger language plpgsql as $$
declare changed uuid;
begin
  for changed in select distinct session_id from changed_rows loop
    perform write_session_card(changed);
  end loop;
  return null;
end $$;

create trigger session_card_made after insert on session
  for each row execute function session_changed();
-- Only for statements that name one of these columns: the counters of runs never come here.
create trigger session_card_changed
  after update of name, simulation_name, email_identifier, email_key, project_id, session_template_id, user_id,
    logo_url, metadata, created_at, machine_group, window_seconds, window_start_at, window_end_at, opened_by,
    closed_at, closed_by, close_reason on session
  for each row execute function session_changed();
create trigger session_card_joined after insert on session_participant
  referencing new table as changed_rows for each statement execute function session_participants_changed();
create trigger session_card_renamed after update on session_participant
  referencing new table as changed_rows for each statement execute function session_participants_changed();
create trigger session_card_left after delete on session_participant
  referencing old table as changed_rows for each statement execute function session_participants_changed();

-- How many sessions there are, so that no list counts a million rows. Each change adds a row of its own, since one
-- row for all would make everybody wait; now and then the rows of a project and template become one.
create table session_tally (
  project_id bigint not null,
  session_template_id bigint not null,
  sessions bigint not null
);
create index session_tally_by_project on session_tally (project_id, session_template_id);

create function add_to_session_tally(project bigint, template bigint, difference bigint) returns void
language plpgsql as $$
begin
  if random() < 0.1 then
    with merged as (
      delete from session_tally t
       where t.ctid = any (array(
               select ctid from session_tally
                where project_id = project and session_template_id = template for update skip locked))
      returning t.sessions)
    insert into session_tally
    select project, template, difference + coalesce(sum(sessions), 0) from merged;
  else
    insert into session_tally values (project, template, difference);
  end if;
end $$;

create function session_card_counted() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    perform add_to_session_tally(old.project_id, old.session_template_id, -1);
  end if;
  if tg_op <> 'DELETE' then
    perform add_to_session_tally(new.project_id, new.session_template_id, 1);
  end if;
  return null;
end $$;

-- Sessions that are here already.
insert into session_card
select made.* from session s, lateral session_card_of(s) made;
insert into session_tally
select project_id, session_template_id, count(*) from session_card group by project_id, session_template_id;

create trigger session_card_counted_once after insert or delete on session_card
  for each row execute function session_card_counted();
create trigger session_card_counted_anew after update of project_id, session_template_id on session_card
  for each row
  when ((old.project_id, old.session_template_id) is distinct from (new.project_id, new.session_template_id))
  execute function session_card_counted();

create index session_card_by_date on session_card (created_at desc, session_id desc);
create index session_card_by_name on session_card (name, session_id);
create index session_card_by_project on session_card (project_id, created_at desc, session_id desc);
create index session_card_by_template on session_card (session_template_id, created_at desc, session_id desc);
create index session_card_by_simulation on session_card (simulation_name);
create index session_card_by_email on session_card (email_identifier);
create index session_card_by_email_key on session_card (email_key);
create index session_card_by_user on session_card (user_id);
-- New entries wait in a list that every search reads: it stays short, so that searches stay even.
create index session_card_by_text on session_card using gin (search_text gin_trgm_ops)
  with (gin_pending_list_limit = 256);
create index session_card_by_metadata on session_card using gin (metadata jsonb_path_ops)
  with (gin_pending_list_limit = 256);
create index session_card_by_metadata_keys on session_card using gin (metadata_keys jsonb_path_ops)
  with (gin_pending_list_limit = 256);

-- The cards' indices take their place.
drop index session_by_date;
drop index session_by_name;
