-- How many attempts the run had before an operator retried it: a replay of an earlier attempt tells it. Null for a
-- cancellation, and for what an earlier version did.
alter table node_run_action add column max_attempts_before integer;
