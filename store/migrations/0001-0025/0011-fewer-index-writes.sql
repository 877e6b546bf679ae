-- Rows that every run changes several times: a change that touches no index and finds room on its page writes to no
-- index at all. So what such changes touch stands in no index, and pages keep room.

-- Renewing a lease changes both columns; the leases that stand are few enough to be read through by node_claim_of_run.
drop index node_claim_lease;
drop index node_claim_timeout;
-- Staged outputs of a run are found by node_output_by_run.
drop index node_output_staged;
-- By a column that changes only when a session turns from clean to wanted and back, not by its counters.
drop index session_wanted;
create index session_wanted on session (wanted_at) where wanted_at is not null;

alter table session set (fillfactor = 70);
alter table node_instance set (fillfactor = 80);
alter table node_run set (fillfactor = 80);
alter table node_attempt set (fillfactor = 80);
alter table node_claim set (fillfactor = 60);
alter table runner_instance set (fillfactor = 50);
