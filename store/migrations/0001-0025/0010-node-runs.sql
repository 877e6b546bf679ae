-- Why an attempt failed; its details hold the reason alone.
alter table node_attempt add column category text;

-- The attempt from which the back-off counts: the first, or the first since an operator had the run tried again.
alter table node_run add column first_attempt integer not null default 1;
-- What operators look for over all sessions. Runs that went well write nothing here.
create index node_run_failed on node_run (fair_rank desc) where outcome in ('failed', 'cancelled');

-- A node's configuration is held against its template's schema once for each revision of that schema, not at each run.
alter table node_template add column schema_revision integer not null default 1;
alter table session_template_node add column checked_revision integer not null default 0;
alter table node_instance add column checked_revision integer not null default 0;
