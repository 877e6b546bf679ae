-- The version of its template that a session took last. Null: of sessions from before, which show the newest.
alter table session add column session_template_version integer;
