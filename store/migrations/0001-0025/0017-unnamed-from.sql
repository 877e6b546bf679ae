-- How many outputs without an identifier the run had when its watermark moved last: they stand for inputs that are
-- consumed, so that later attempts count from there: see store/runs/task-outputs.ts.
alter table node_run add column unnamed_from integer not null default 0;
