-- What happened to tokens and accounts: who, what, when, from where. Entries outlive the users that they tell of.
create table auth.audit_entry (
  id bigint generated always as identity,
  at timestamptz(3) not null default clock_timestamp(),
  action text not null,
  actor_kind text not null check (actor_kind in ('user', 'device')),
  -- The user who acts; null for a sign-in to no account.
  actor_id text,
  actor_role text,
  object_type text not null,
  object_id text,
  session_id uuid,
  request_id text,
  -- The network of the caller, not the address: /24 of IPv4, /48 of IPv6.
  network cidr,
  primary key (at, id)
);
create index audit_entry_by_actor on auth.audit_entry (actor_id, at, id);
create index audit_entry_by_object on auth.audit_entry (object_type, object_id, at, id);
create index audit_entry_by_action on auth.audit_entry (action, at, id);

create function auth.refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'Audit entries are kept as they were written.' using errcode = 'insufficient_privilege';
end $$;
create trigger audit_entry_kept before update or delete or truncate on auth.audit_entry
  for each statement execute function auth.refuse_audit_change();
