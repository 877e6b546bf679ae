-- Outputs that a runner wrote without an identifier of its own, counted for each claim: see store/runs/task-outputs.ts.
alter table node_claim add column unnamed_outputs integer not null default 0;
