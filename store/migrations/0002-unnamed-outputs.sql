-- Outputs that a runner wrote without an identifier of its own, counted for each claim: see store/task-writes.ts.
alter table node_claim add column unnamed_outputs integer not null default 0;
