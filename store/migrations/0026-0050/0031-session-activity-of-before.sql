-- stepwise
-- Sessions that were there before session_activity.
insert into session_activity (session_id, started, failed, last_at)
select session.id, session.newest_position > 0,
       exists (select from node_instance n where n.session_id = session.id and n.state = 2),
       greatest(session.created_at, session.newest_output_at, session.frozen_at, session.closed_at,
                (select max(n.last_processed) from node_instance n where n.session_id = session.id))
  from session
 where not exists (select from session_activity a where a.session_id = session.id) and :batch(session)
on conflict (session_id) do nothing;
