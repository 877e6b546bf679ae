-- stepwise
create index concurrently node_run_claim_order on node_run (template_name, (coalesce(claim_time, queue_time)))
 where state = 'queued' and not frozen;
drop index concurrently if exists node_run_claimable;
-- What is held under a limit is counted by this.
create index concurrently node_run_held on node_run (runner_type, template_name) where state = 'held';
