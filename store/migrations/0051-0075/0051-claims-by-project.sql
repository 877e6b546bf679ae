-- stepwise
create index concurrently node_run_claim_order_by_project
    on node_run (template_name, (coalesce(project_id, 0)), (coalesce(claim_time, queue_time)))
 where state = 'queued' and not frozen;
