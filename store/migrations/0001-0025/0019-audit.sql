-- Who wrote what, when and from where: one entry for each acknowledged write, in the transaction of the write where it
-- has one. Entries outlive what they tell of, so nothing here refers to another table.
create table audit_entry (
  id bigint generated always as identity,
  at timestamptz(3) not null default clock_timestamp(),
  -- The operation's id of the interface document, or what the platform did by itself.
  action text not null,
  actor_kind text not null check (actor_kind in ('user', 'device', 'runner', 'ingest', 'platform')),
  -- The authentication service's id of a user (of a device: of its Administrator), the id of a runner token or of a
  -- managed ingest. Never an address or a token.
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
create index audit_entry_by_actor on audit_entry (actor_id, at, id);
create index audit_entry_by_object on audit_entry (object_type, object_id, at, id);
create index audit_entry_by_session on audit_entry (session_id, at, id) where session_id is not null;
create index audit_entry_by_action on audit_entry (action, at, id);

create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'Audit entries are kept as they were written.' using errcode = 'insufficient_privilege';
end $$;
create trigger audit_entry_kept before update or delete or truncate on audit_entry
  for each statement execute function refuse_audit_change();
