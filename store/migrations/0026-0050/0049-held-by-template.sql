-- stepwise
-- Held runs are counted by their node template: a template may have moved to another runner type since a run was queued.
create index concurrently node_run_held_by_template on node_run (template_name) where state = 'held';
drop index concurrently if exists node_run_held;
