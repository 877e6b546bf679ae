-- stepwise
-- Runs that did not end as most do, the last made first: failed and cancelled ones, and those that wrote nothing. Without it the
-- newest of them were searched for among all runs.
create index concurrently node_run_not_completed on node_run (id desc) where outcome <> 'completed';
drop index concurrently if exists node_run_failed_by_id;
