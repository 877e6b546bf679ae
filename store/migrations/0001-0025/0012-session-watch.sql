-- Sessions whose changes somebody follows just now, at any API process. Changes of these alone are announced.
create unlogged table session_watch (
  session_id uuid primary key,
  until timestamptz not null
);

create function announce_session_change(changed uuid) returns void language plpgsql as $$
begin
  if exists (select from session_watch w where w.session_id = changed and w.until > clock_timestamp()) then
    perform pg_notify('session_changed', changed::text);
  end if;
end $$;

create function session_row_changed() returns trigger language plpgsql as $$
begin
  perform announce_session_change(coalesce(new.id, old.id));
  return null;
end $$;

create function session_part_changed() returns trigger language plpgsql as $$
begin
  perform announce_session_change(coalesce(new.session_id, old.session_id));
  return null;
end $$;

create function claim_changed() returns trigger language plpgsql as $$
begin
  perform announce_session_change((select r.session_id from node_run r where r.id = new.run_id));
  return null;
end $$;

-- Every fact about a graph raises wanted_seq; a claim writes no row of its session.
create trigger session_announced after update of wanted_seq, frozen_at, closed_at, close_ended_at, window_due_at on session
  for each row execute function session_row_changed();
create trigger session_deletion_announced after delete on session
  for each row execute function session_row_changed();
create trigger session_participant_announced after insert on session_participant
  for each row execute function session_part_changed();
create trigger claim_announced after insert on node_claim
  for each row execute function claim_changed();
create trigger claim_progress_announced after update of phase, message on node_claim
  for each row when (old.phase is distinct from new.phase or old.message is distinct from new.message)
  execute function claim_changed();
