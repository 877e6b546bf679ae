-- stepwise
-- Runs that failed, the last made first.
create index concurrently node_run_failed_by_id on node_run (id desc) where outcome in ('failed', 'cancelled');
