-- System dashboards: links of the sidebar, each with the sessions that back it.
create table static_definition (
  id bigint generated always as identity primary key,
  code text collate "C" not null unique,
  title text not null,
  icon text not null default '',
  "order" integer not null default 0,
  section_code text not null,
  section_title text not null,
  -- 0 global, 1 for each project, 2 for each user.
  scope_kind smallint not null check (scope_kind between 0 and 2),
  created_at timestamptz not null default clock_timestamp()
);

create table static_instance (
  id bigint generated always as identity primary key,
  static_id bigint not null references static_definition (id) on delete cascade,
  session_id uuid not null references session (id) on delete cascade,
  created_at timestamptz not null default clock_timestamp(),
  unique (static_id, session_id)
);
create index static_instance_by_session on static_instance (session_id);

-- A session that backs a system dashboard has no card: no list, search or query of sessions shows it.
create or replace function session_card_of(s session) returns setof session_card language sql stable as $$
  select s.id, s.name, s.simulation_name, s.email_identifier, s.email_key, s.project_id, s.session_template_id,
         s.user_id, s.logo_url, s.created_at, session_shown_metadata(s), session_metadata_keys(s),
         lower(s.name || E'\n' || coalesce(s.simulation_name, '')) || E'\n' || s.id::text
   where not exists (select from static_instance i where i.session_id = s.id)
$$;

create function session_static_changed() returns trigger language plpgsql as $$
begin
  -- Changes of one session's cards follow each other.
  perform 1 from session where id = coalesce(new.session_id, old.session_id) for no key update;
  if exists (select from static_instance where session_id = coalesce(new.session_id, old.session_id)) then
    delete from session_card where session_id = coalesce(new.session_id, old.session_id);
  else
    perform write_session_card(old.session_id);
  end if;
  return null;
end $$;
create trigger session_card_hidden after insert or delete on static_instance
  for each row execute function session_static_changed();
